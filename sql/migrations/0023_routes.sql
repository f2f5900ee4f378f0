-- Which profile, account and proxy an attempt really used, by name; NULL: none. A claim writes what
-- its gate has found, and the settlement the proxy that was chosen later. All stay NULL for ordinary
-- jobs without a proxy, whose writes thus do not change.
ALTER TABLE work_queue
  ADD COLUMN used_profile VARCHAR(64) NULL COMMENT 'by the last attempt',
  ADD COLUMN used_account VARCHAR(64) NULL,
  ADD COLUMN used_proxy   VARCHAR(64) NULL;

ALTER TABLE job_attempts
  ADD COLUMN used_profile VARCHAR(64) NULL,
  ADD COLUMN used_account VARCHAR(64) NULL,
  ADD COLUMN used_proxy   VARCHAR(64) NULL;

ALTER TABLE archived_jobs
  ADD COLUMN used_profile VARCHAR(64) NULL,
  ADD COLUMN used_account VARCHAR(64) NULL,
  ADD COLUMN used_proxy   VARCHAR(64) NULL;

ALTER TABLE archived_attempts
  ADD COLUMN used_profile VARCHAR(64) NULL,
  ADD COLUMN used_account VARCHAR(64) NULL,
  ADD COLUMN used_proxy   VARCHAR(64) NULL;

ALTER TABLE outbox
  ADD COLUMN used_profile VARCHAR(64) NULL,
  ADD COLUMN used_account VARCHAR(64) NULL,
  ADD COLUMN used_proxy   VARCHAR(64) NULL;
