-- name: lock_breakers
-- Hold the breakers that concern a job until its claim is decided.
SELECT name, state, held, reason,
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), until) / 1000000 AS wait_seconds
  FROM breakers
 WHERE name IN %(names)s AND (state <> 'closed' OR held = 'open')
 ORDER BY name
   FOR UPDATE;

-- name: send_canary
-- Let one job through an open breaker whose time is over; for so long no other follows.
UPDATE breakers
   SET state = 'half_open', canary_job = %(job_id)s, canary_fence = %(fence)s,
       until = UTC_TIMESTAMP(6) + INTERVAL %(patience_seconds)s SECOND
 WHERE name = %(name)s;

-- name: note_failure
-- Count a failure that a key is to blame for, in windows of a minute.
INSERT INTO breakers (name, failures, window_start)
VALUES (%(name)s, 1, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE
       failures = IF(window_start < UTC_TIMESTAMP(6) - INTERVAL %(window_seconds)s SECOND,
                     1, failures + 1),
       window_start = IF(window_start < UTC_TIMESTAMP(6) - INTERVAL %(window_seconds)s SECOND,
                         UTC_TIMESTAMP(6), window_start);

-- name: get_breaker
-- Read one breaker.
SELECT * FROM breakers WHERE name = %(name)s;

-- name: count_successes
-- Count the jobs of a site or a profile that were finished since a moment, up to a number.
SELECT COUNT(*) AS successes
  FROM (SELECT 1
          FROM work_queue FORCE INDEX (finished_jobs)
         WHERE finished_at >= %(since)s AND status = 'done'
           AND (%(site)s IS NULL OR site = %(site)s)
           AND (%(profile)s IS NULL OR profile = %(profile)s)
         LIMIT %(limit)s) recent;

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

-- name: canary_failed
-- Open a breaker again whose canary failed, for twice as long.
UPDATE breakers
   SET state = 'open', reason = %(reason)s, canary_job = NULL, canary_fence = NULL,
       until = UTC_TIMESTAMP(6)
             + INTERVAL LEAST(%(longest)s,
                              GREATEST(%(at_least)s, %(seconds)s * POW(2, openings))) SECOND,
       openings = openings + 1
 WHERE name = %(name)s AND state = 'half_open'
   AND canary_job = %(job_id)s AND canary_fence = %(fence)s;

-- name: put_canary_behind
-- Let a canary that failed wait until another job has gone out.
UPDATE work_queue q
  JOIN breakers b ON b.name = %(name)s
   SET q.not_before = b.until + INTERVAL 3 SECOND
 WHERE q.id = %(job_id)s AND q.fence = %(fence)s AND q.status = 'pending'
   AND q.not_before IS NULL AND b.state = 'open';

-- name: canary_survived
-- Close a breaker whose canary came back with a result.
UPDATE breakers
   SET state = 'closed', failures = 0, openings = 0, until = NULL, reason = NULL,
       canary_job = NULL, canary_fence = NULL, window_start = UTC_TIMESTAMP(6)
 WHERE name = %(name)s AND state = 'half_open'
   AND canary_job = %(job_id)s AND canary_fence = %(fence)s;

-- name: canary_returned
-- Let another canary go at once: this one said nothing about the key.
UPDATE breakers
   SET state = 'open', until = UTC_TIMESTAMP(6), canary_job = NULL, canary_fence = NULL
 WHERE name = %(name)s AND state = 'half_open'
   AND canary_job = %(job_id)s AND canary_fence = %(fence)s;

-- name: hold_breaker
-- Set a breaker by hand; held, it stays so until it is released.
INSERT INTO breakers (name, state, window_start, opened_at, until, reason, held, held_by)
VALUES (%(name)s, %(state)s, UTC_TIMESTAMP(6), IF(%(state)s = 'open', UTC_TIMESTAMP(6), NULL),
        UTC_TIMESTAMP(6) + INTERVAL %(seconds)s SECOND, %(reason)s, %(held)s, %(held_by)s)
ON DUPLICATE KEY UPDATE
       state = VALUES(state), failures = 0, openings = 0, opened_at = VALUES(opened_at),
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
SELECT name, state, reason,
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), until)) / 1000000 AS wait_seconds
  FROM breakers
 WHERE state <> 'closed';
