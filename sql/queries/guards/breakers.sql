-- name: lock_breakers
-- Hold the breakers that concern a job until its claim is decided.
SELECT name, state, held, reason, openings, failing,
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), until) / 1000000 AS wait_seconds
  FROM breakers
 WHERE name IN %(names)s AND (state <> 'closed' OR held = 'open')
 ORDER BY name
   FOR UPDATE;

-- name: open_window
-- Have a breaker to count by; the counts of a closed one begin anew every minute.
INSERT INTO breakers (name, window_start)
VALUES (%(name)s, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE
       failing = IF(state = 'closed'
                    AND window_start < UTC_TIMESTAMP(6) - INTERVAL %(window_seconds)s SECOND,
                    NULL, failing),
       window_start = IF(state = 'closed'
                         AND window_start < UTC_TIMESTAMP(6) - INTERVAL %(window_seconds)s SECOND,
                         UTC_TIMESTAMP(6), window_start);

-- name: count_failure
-- Keep how often each task has failed.
UPDATE breakers SET failures = %(failures)s, failing = %(failing)s WHERE name = %(name)s;

-- name: lock_breaker
-- Read one breaker and keep others from changing it until the transaction ends.
SELECT * FROM breakers WHERE name = %(name)s FOR UPDATE;

-- name: count_successes
-- Count by task the jobs of a site or a profile that were finished since a moment, up to a number.
SELECT task, COUNT(*) AS successes
  FROM (SELECT task
          FROM work_queue FORCE INDEX (finished_jobs)
         WHERE finished_at >= %(since)s AND status = 'done'
           AND (%(site)s IS NULL OR site = %(site)s)
           AND (%(profile)s IS NULL OR profile = %(profile)s)
         LIMIT %(limit)s) recent
 GROUP BY task;

-- name: forget_quiet_breakers
-- Remove the breakers that say nothing any more: closed, left to themselves, no failure lately.
DELETE FROM breakers
 WHERE state = 'closed' AND held IS NULL
   AND window_start < UTC_TIMESTAMP(6) - INTERVAL %(window_seconds)s SECOND;

-- name: trip_breaker
-- Open a closed breaker for a while.
UPDATE breakers
   SET state = 'open', openings = 1, opened_at = UTC_TIMESTAMP(6), reason = %(reason)s,
       until = UTC_TIMESTAMP(6) + INTERVAL %(seconds)s SECOND
 WHERE name = %(name)s AND state = 'closed' AND held IS NULL;

-- name: close_breaker
-- Close a breaker, whatever it waited for: the window goes back to the success that closed it.
UPDATE breakers
   SET state = 'closed', failures = 0, failing = NULL, openings = 0, until = NULL, reason = NULL,
       canary_job = NULL, canary_fence = NULL,
       window_start = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND
 WHERE name = %(name)s;

-- name: hold_breaker
-- Set a breaker by hand; held, it stays so until it is released.
INSERT INTO breakers (name, state, window_start, opened_at, until, reason, held, held_by)
VALUES (%(name)s, %(state)s, UTC_TIMESTAMP(6), IF(%(state)s = 'open', UTC_TIMESTAMP(6), NULL),
        UTC_TIMESTAMP(6) + INTERVAL %(seconds)s SECOND, %(reason)s, %(held)s, %(held_by)s)
ON DUPLICATE KEY UPDATE
       state = VALUES(state), failures = 0, failing = NULL, openings = 0, opened_at = VALUES(opened_at),
       until = VALUES(until), reason = VALUES(reason), held = VALUES(held),
       held_by = VALUES(held_by), canary_job = NULL, canary_fence = NULL,
       window_start = VALUES(window_start);

-- name: forget_breaker
-- Forget a breaker, with what it guarded.
DELETE FROM breakers WHERE name = %(name)s;

-- name: read_breakers
-- List all breakers, and for how many seconds they let nothing through (NULL: until told).
SELECT *,
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), until)) / 1000000 AS wait_seconds
  FROM breakers
 ORDER BY name;

-- name: read_tripped_breakers
-- List the breakers that do not let everything through; those that only count can be many.
SELECT name, state, reason, openings, failing,
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), until)) / 1000000 AS wait_seconds
  FROM breakers
 WHERE state <> 'closed';
