-- A dedupe key is per task, unless its job asks for one across all tasks.
ALTER TABLE work_queue
  ADD COLUMN dedupe_across_tasks BOOLEAN NOT NULL DEFAULT FALSE
      COMMENT 'its dedupe key counts for all tasks that ask so',
  ADD COLUMN dedupe_scope VARCHAR(64) GENERATED ALWAYS AS (IF(dedupe_across_tasks, '', task)) STORED,
  DROP KEY one_job_per_dedupe_key,
  ADD UNIQUE KEY one_job_per_dedupe_key (dedupe_key, dedupe_scope);

ALTER TABLE archived_jobs
  ADD COLUMN dedupe_across_tasks BOOLEAN NOT NULL DEFAULT FALSE;
