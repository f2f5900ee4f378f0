-- name: drill_workers
-- List the processes that are registered as workers and not known to have ended.
SELECT pid, pid_started FROM workers WHERE ended_at IS NULL;
