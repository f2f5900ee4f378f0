-- name: create_finish_ledger
-- Make the table in which a trigger notes every finish.
CREATE TABLE finish_ledger (
  number BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  job_id BIGINT NOT NULL,
  fence  BIGINT NOT NULL,
  incarnation BIGINT NULL,
  started_at  DATETIME(6) NULL,
  finished_at DATETIME(6) NULL
) ENGINE = InnoDB;

-- name: create_finish_trigger
-- Note every change of a job to done.
CREATE TRIGGER note_finishes AFTER UPDATE ON work_queue FOR EACH ROW
INSERT INTO finish_ledger (job_id, fence, incarnation, started_at, finished_at)
SELECT NEW.id, NEW.fence, NEW.incarnation, NEW.started_at, NEW.finished_at FROM DUAL WHERE NEW.status = 'done' AND OLD.status <> 'done';

-- name: count_finishes
-- Count how often each job was finished.
SELECT job_id, COUNT(*) AS times FROM finish_ledger GROUP BY job_id;
