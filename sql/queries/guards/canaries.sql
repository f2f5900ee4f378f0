-- name: send_canary
-- Let one job through an open breaker whose time is over; no other follows for `patience_seconds`.
UPDATE breakers
   SET state = 'half_open', canary_job = %(job_id)s, canary_fence = %(fence)s,
       until = UTC_TIMESTAMP(6) + INTERVAL %(patience_seconds)s SECOND
 WHERE name = %(name)s;

-- name: canary_survived
-- Close a breaker whose canary came back with a result, which is the first success of its window.
UPDATE breakers
   SET state = 'closed', failures = 0, failing = NULL, openings = 0, until = NULL, reason = NULL,
       canary_job = NULL, canary_fence = NULL,
       window_start = COALESCE((SELECT finished_at FROM work_queue WHERE id = %(job_id)s),
                               UTC_TIMESTAMP(6))
 WHERE name = %(name)s AND state = 'half_open'
   AND canary_job = %(job_id)s AND canary_fence = %(fence)s;

-- name: reopen_breaker
-- Open a breaker again whose canary did not close it.
UPDATE breakers
   SET state = 'open', openings = %(openings)s, reason = %(reason)s, failing = %(failing)s,
       until = UTC_TIMESTAMP(6) + INTERVAL %(seconds)s SECOND,
       canary_job = NULL, canary_fence = NULL
 WHERE name = %(name)s;

-- name: neighbours_of_canary
-- List a canary that failed and the ready jobs of its task, at its site or in its profile, that
-- follow it in the queue.
SELECT q.id
  FROM work_queue q FORCE INDEX (PRIMARY)
 WHERE q.id >= %(job_id)s AND q.id <= %(last_id)s
   AND q.status = 'pending' AND q.not_before IS NULL
   AND ((q.id = %(job_id)s AND q.fence = %(fence)s)
        OR (q.id <> %(job_id)s AND q.task = %(task)s
            AND (%(site)s IS NULL OR q.site = %(site)s)
            AND (%(profile)s IS NULL OR q.profile = %(profile)s)))
 ORDER BY q.id
 LIMIT %(limit)s;

-- name: put_behind
-- Let jobs wait until others have had time to go out as the canary of an open breaker, and the one
-- that failed longest.
UPDATE work_queue q
  JOIN breakers b ON b.name = %(name)s AND b.state = 'open'
   SET q.not_before = b.until + INTERVAL IF(q.id = %(job_id)s, 6, 3) SECOND
 WHERE q.id IN %(ids)s AND q.status = 'pending' AND q.not_before IS NULL;
