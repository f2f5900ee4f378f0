-- Whose jobs a schedule adds: lines of its file may name profile, account and order key, as those of
-- `enqueue` do. They were lost.
ALTER TABLE schedule_jobs
  ADD COLUMN profile_id VARCHAR(64)  NULL,
  ADD COLUMN account_id VARCHAR(64)  NULL,
  ADD COLUMN order_key  VARCHAR(191) NULL;
