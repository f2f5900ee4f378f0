-- name: read_limits
-- List all limits, and for how many seconds their rate lets nothing start.
SELECT name, concurrent, per_minute, set_by, set_at,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), next_start_at), 0))
         / 1000000 AS wait_seconds, warm_since,
       /* include pace_columns */
  FROM limits
 ORDER BY name;

-- name: set_limit
-- Set or change the limit of a key; what is not given is unlimited. A warm-up that was under way
-- and is set again as it was goes on.
INSERT INTO limits (name, concurrent, per_minute, per_hour, per_day, warm_from, warm_to,
                    warm_seconds, warm_since, set_by, set_at)
VALUES (%(name)s, %(concurrent)s, %(per_minute)s, %(per_hour)s, %(per_day)s, %(warm_from)s,
        %(warm_to)s, %(warm_seconds)s, UTC_TIMESTAMP(6), %(set_by)s, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE
       warm_since = IF(warm_from <=> VALUES(warm_from) AND warm_to <=> VALUES(warm_to)
                       AND warm_seconds <=> VALUES(warm_seconds), warm_since, VALUES(warm_since)),
       warm_from = VALUES(warm_from), warm_to = VALUES(warm_to),
       warm_seconds = VALUES(warm_seconds),
       concurrent = VALUES(concurrent), per_minute = VALUES(per_minute),
       per_hour = VALUES(per_hour), per_day = VALUES(per_day),
       next_start_at = NULL, resting_until = NULL, set_by = VALUES(set_by), set_at = VALUES(set_at);

-- name: clear_limit
-- Remove the limit of a key.
DELETE FROM limits WHERE name = %(name)s;

-- name: lock_limits
-- Hold the limits that concern a job until its claim is decided: one claim of a key at a time.
SELECT name, concurrent, per_minute,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), next_start_at), 0))
         / 1000000 AS wait_seconds,
       /* include pace_columns */
  FROM limits
 WHERE name IN %(names)s
 ORDER BY name
   FOR UPDATE;

-- name: count_start
-- Count a start of these keys, and let nothing else of them start before their rate allows it.
UPDATE limits
   SET starts = starts + 1,
       next_start_at = IF(per_minute IS NULL, next_start_at,
                          GREATEST(COALESCE(next_start_at, UTC_TIMESTAMP(6)), UTC_TIMESTAMP(6))
                          + INTERVAL ROUND(60000000 / per_minute) MICROSECOND)
 WHERE name IN %(names)s;

-- name: count_in_progress
-- Count the jobs in progress of a site, a task, a queue or an account; NULL is any. A job that names only a
-- profile counts for the account of the lease it took.
SELECT COUNT(*) AS jobs
  FROM work_queue q FORCE INDEX (next_candidates)
 WHERE status = 'in_progress'
   AND (%(site)s IS NULL OR site = %(site)s)
   AND (%(task)s IS NULL OR task = %(task)s)
   AND (%(queue)s IS NULL OR queue = %(queue)s)
   AND (%(account)s IS NULL OR account = %(account)s
        OR (account IS NULL
            AND EXISTS (SELECT 1 FROM profile_leases l
                         WHERE l.job_id = q.id AND l.job_fence = q.fence
                           AND l.account_id = %(account)s)));

-- name: keys_in_progress
-- List what the jobs in progress count against, by the same rule.
SELECT q.site, q.task, q.queue, COALESCE(q.account, l.account_id) AS account_id
  FROM work_queue q FORCE INDEX (next_candidates)
  LEFT JOIN profile_leases l ON l.job_id = q.id AND l.job_fence = q.fence
 WHERE q.status = 'in_progress';

-- name: pace_columns
-- What caps on starts within an hour or a day need to know of a limit.
per_hour, per_day, warm_from, warm_to, warm_seconds, resting_cap, UTC_TIMESTAMP(6) AS now,
       COALESCE(TIMESTAMPDIFF(MICROSECOND, warm_since, UTC_TIMESTAMP(6)), 0) / 1000000
         AS warm_age_seconds,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), resting_until), 0))
         / 1000000 AS rest_seconds

-- name: forget_all_starts
-- Remove the starts of a key whose limit is removed.
DELETE FROM limit_starts WHERE name = %(name)s;
