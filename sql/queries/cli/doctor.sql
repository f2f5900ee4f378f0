-- name: try_adding
-- Add a job, in a transaction that is rolled back.
INSERT INTO work_queue (payload, task) VALUES ('{}', 'doctor');

-- name: try_changing
-- Change that job.
UPDATE work_queue SET priority = priority + 1 WHERE id = LAST_INSERT_ID();

-- name: try_history
-- Write the history of an attempt at that job.
INSERT INTO job_attempts (job_id, fence, attempt, outcome, finished_at)
VALUES (LAST_INSERT_ID(), 1, 1, 'error', UTC_TIMESTAMP(6));

-- name: try_removing
-- Remove that job.
DELETE FROM work_queue WHERE id = LAST_INSERT_ID();

-- name: try_worker
-- Record a worker.
INSERT INTO workers (run_id, slot, pid, pid_started, started_at)
VALUES (0, 0, 0, 0, UTC_TIMESTAMP(6));
