-- name: expired_claims
-- List claims that have outlived their lease, after an id.
SELECT id, fence, attempts, max_attempts, worker_id, task, started_at,
       TIMESTAMPDIFF(SECOND, lease_until, UTC_TIMESTAMP(6)) AS overdue_seconds
  FROM work_queue
 WHERE status = 'in_progress' AND lease_until < UTC_TIMESTAMP(6) AND id > %(after)s
 ORDER BY id
 LIMIT %(limit)s;

-- name: claims_of_incarnation
-- List what one incarnation holds; it is gone, and so should its claims be.
SELECT id, fence, attempts, max_attempts, worker_id, task
  FROM work_queue
 WHERE status = 'in_progress' AND incarnation = %(incarnation)s;
