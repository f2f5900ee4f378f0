-- The history: one row per claim that has ended. Its key makes a settlement repeatable: a worker
-- that lost its connection in the commit finds here whether its own write went through.
CREATE TABLE IF NOT EXISTS job_attempts (
  job_id      BIGINT       NOT NULL,
  fence       BIGINT       NOT NULL,
  attempt     INT          NOT NULL,
  outcome     ENUM('done', 'retry', 'blocked', 'error', 'handed_back', 'swept', 'crashed',
                   'timed_out') NOT NULL,
  worker_id   INT          NULL,
  incarnation BIGINT       NULL,
  started_at  DATETIME(6)  NULL,
  finished_at DATETIME(6)  NOT NULL,
  reason      VARCHAR(500) NULL,
  fingerprint CHAR(16)     NULL,
  evidence    VARCHAR(255) NULL COMMENT 'folder, relative to the errors folder',
  last_step   VARCHAR(255) NULL,
  PRIMARY KEY (job_id, fence)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
