-- Where the evidence of an attempt was written: the errors folder and the machine. The setting may
-- change, and another machine may ask. `evidence` stays relative to the folder.
ALTER TABLE job_attempts
  ADD COLUMN evidence_dir  VARCHAR(1024) NULL COMMENT 'the errors folder, absolute',
  ADD COLUMN evidence_host VARCHAR(255)  NULL COMMENT 'the machine that has it';

ALTER TABLE archived_attempts
  ADD COLUMN evidence_dir  VARCHAR(1024) NULL COMMENT 'the errors folder, absolute',
  ADD COLUMN evidence_host VARCHAR(255)  NULL COMMENT 'the machine that has it';
