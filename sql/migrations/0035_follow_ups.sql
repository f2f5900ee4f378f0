-- Jobs that a job has added: which one, which one began it all, and how many steps away that is. All
-- are empty for jobs that nobody's job has added, and nothing writes them after the INSERT.
ALTER TABLE work_queue
  ADD COLUMN parent_id BIGINT NULL COMMENT 'the job whose task added it',
  ADD COLUMN root_id   BIGINT NULL COMMENT 'the first job of that chain',
  ADD COLUMN depth     INT    NOT NULL DEFAULT 0 COMMENT 'steps from the first job',
  ADD KEY follow_ups_of_a_job (parent_id);

ALTER TABLE archived_jobs
  ADD COLUMN parent_id BIGINT NULL,
  ADD COLUMN root_id   BIGINT NULL,
  ADD COLUMN depth     INT    NOT NULL DEFAULT 0,
  ADD KEY archived_follow_ups_of_a_job (parent_id);
