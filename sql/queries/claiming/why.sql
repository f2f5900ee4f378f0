-- name: times_of_job
-- Tell how long a job has been running, its claim still holds, and it still has to wait; and on which
-- host its worker is.
SELECT (SELECT r.host FROM workers w JOIN runs r ON r.id = w.run_id
         WHERE w.id = work_queue.incarnation) AS host,
       COALESCE(TIMESTAMPDIFF(MICROSECOND, started_at, UTC_TIMESTAMP(6)), 0) / 1000000 AS age_seconds,
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), lease_until) / 1000000 AS lease_seconds,
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), not_before) / 1000000 AS due_seconds
  FROM work_queue
 WHERE id = %(id)s;

-- name: jobs_ahead
-- Count the ready jobs that come before one, up to a number.
SELECT COUNT(*) AS jobs
  FROM (SELECT 1
          FROM work_queue q FORCE INDEX (next_candidates)
          JOIN (SELECT id, priority FROM work_queue WHERE id = %(id)s) own
         WHERE q.status = 'pending' AND q.not_before IS NULL
           AND (q.priority < own.priority OR (q.priority = own.priority AND q.id < own.id))
         LIMIT %(many)s) ahead;

-- name: last_reason
-- Read why a job's last claim ended as it did.
SELECT reason FROM job_attempts WHERE job_id = %(id)s AND fence = %(fence)s;
