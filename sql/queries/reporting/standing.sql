-- name: jobs_in_progress
-- List what is at work, oldest first.
SELECT q.id, q.task, q.worker_id, w.run_id, r.host, q.attempts, q.fence, q.parent_id, q.depth,
       COALESCE(TIMESTAMPDIFF(MICROSECOND, q.started_at, UTC_TIMESTAMP(6)), 0) / 1000000
         AS age_seconds,
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), q.lease_until) / 1000000 AS lease_seconds
  FROM work_queue q FORCE INDEX (next_candidates)
  LEFT JOIN workers w ON w.id = q.incarnation
  LEFT JOIN runs r ON r.id = w.run_id
 WHERE q.status = 'in_progress'
 ORDER BY q.started_at
 LIMIT 1000;

-- name: jobs_added_by_jobs
-- Count the jobs of the queue that other jobs have added, from the index of those alone.
SELECT COUNT(*) AS jobs
  FROM work_queue FORCE INDEX (follow_ups_of_a_job)
 WHERE parent_id IS NOT NULL;

-- name: waiting_jobs
-- Count pending jobs that wait for their time, and tell when the next one's comes.
SELECT COUNT(*) AS jobs,
       COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), MIN(not_before)) / 1000000, 0)
         AS next_due_seconds
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'pending' AND not_before IS NOT NULL;
