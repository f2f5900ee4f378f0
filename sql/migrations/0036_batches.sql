-- Batches: jobs that were added together and are reported together. A job names its batch; the index
-- holds no state, so claims and finishes do not touch it.
ALTER TABLE work_queue
  ADD COLUMN batch VARCHAR(100) NULL COMMENT 'jobs of one name are reported together',
  ADD KEY jobs_of_a_batch (batch);

ALTER TABLE archived_jobs
  ADD COLUMN batch VARCHAR(100) NULL,
  ADD KEY archived_jobs_of_a_batch (batch);

-- What is known of each batch. Whoever sees first that all of its jobs are finished writes that here,
-- guarded by `additions`, and puts the news into the outbox in the same transaction.
CREATE TABLE IF NOT EXISTS batches (
  id           BIGINT        NOT NULL AUTO_INCREMENT,
  name         VARCHAR(100)  NOT NULL,
  callback_url VARCHAR(2048) NULL,
  additions    INT           NOT NULL DEFAULT 1 COMMENT 'times that jobs were added to it',
  created_at   DATETIME(6)   NOT NULL,
  created_by   VARCHAR(255)  NOT NULL,
  finished_at  DATETIME(6)   NULL COMMENT 'NULL: some of its jobs are not finished',
  done         BIGINT        NULL,
  failed       BIGINT        NULL,
  cancelled    BIGINT        NULL,
  PRIMARY KEY (id),
  UNIQUE KEY one_batch_of_a_name (name),
  KEY batches_by_end (finished_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
