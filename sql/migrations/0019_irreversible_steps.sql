-- The irreversible step that a job's task is at, or broke off at: then the job may be half done. The
-- server itself refuses to let such a job wait for another attempt while that stands.
ALTER TABLE work_queue
  ADD COLUMN irreversible_step VARCHAR(255) NULL COMMENT 'begun and not known to be over',
  ADD CONSTRAINT half_done_is_not_repeated
      CHECK (irreversible_step IS NULL OR status IN ('in_progress', 'error'));

ALTER TABLE archived_jobs
  ADD COLUMN irreversible_step VARCHAR(255) NULL COMMENT 'at which it may be half done';

-- How a hold's last step is to be read: guessed by its words, not guessed, or called irreversible.
ALTER TABLE profile_leases
  ADD COLUMN step_kind ENUM('guessed', 'plain', 'irreversible') NOT NULL DEFAULT 'guessed';
