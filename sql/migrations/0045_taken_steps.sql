-- The irreversible steps that a job's attempts have taken and left behind, a line each: no later
-- attempt takes one of them again without a person's word. Compared letter by letter.
ALTER TABLE work_queue
  ADD COLUMN taken_steps MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
      COMMENT 'irreversible ones, begun and left; a line each';

ALTER TABLE archived_jobs
  ADD COLUMN taken_steps MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL;
