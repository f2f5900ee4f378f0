-- name: jobs_at_work
-- Read what is shown of the jobs that workers are at.
SELECT id, task, site, attempts, timeout_seconds, status FROM work_queue WHERE id IN %(ids)s;
