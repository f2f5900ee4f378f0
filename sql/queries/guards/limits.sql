-- name: read_limits
-- List all limits, and for how many seconds their rate lets nothing start.
SELECT name, concurrent, per_minute, set_by, set_at,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), next_start_at), 0))
         / 1000000 AS wait_seconds
  FROM limits
 ORDER BY name;

-- name: set_limit
-- Set or change the limit of a key; what is not given is unlimited.
INSERT INTO limits (name, concurrent, per_minute, set_by, set_at)
VALUES (%(name)s, %(concurrent)s, %(per_minute)s, %(set_by)s, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE concurrent = VALUES(concurrent), per_minute = VALUES(per_minute),
       next_start_at = NULL, set_by = VALUES(set_by), set_at = VALUES(set_at);

-- name: clear_limit
-- Remove the limit of a key.
DELETE FROM limits WHERE name = %(name)s;

-- name: lock_limits
-- Hold the limits that concern a job until its claim is decided: one claim of a key at a time.
SELECT name, concurrent, per_minute,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), next_start_at), 0))
         / 1000000 AS wait_seconds
  FROM limits
 WHERE name IN %(names)s
 ORDER BY name
   FOR UPDATE;

-- name: count_start
-- Let nothing else of these keys start before their rate allows it.
UPDATE limits
   SET next_start_at = GREATEST(COALESCE(next_start_at, UTC_TIMESTAMP(6)), UTC_TIMESTAMP(6))
                       + INTERVAL ROUND(60000000 / per_minute) MICROSECOND
 WHERE name IN %(names)s AND per_minute IS NOT NULL;

-- name: count_in_progress
-- Count the jobs in progress of a site, a task or an account; NULL is any. A job that names only a
-- profile counts for the account of the lease it took.
SELECT COUNT(*) AS jobs
  FROM work_queue q FORCE INDEX (next_candidates)
 WHERE status = 'in_progress'
   AND (%(site)s IS NULL OR site = %(site)s)
   AND (%(task)s IS NULL OR task = %(task)s)
   AND (%(account)s IS NULL OR account = %(account)s
        OR (account IS NULL
            AND EXISTS (SELECT 1 FROM profile_leases l
                         WHERE l.job_id = q.id AND l.job_fence = q.fence
                           AND l.account_id = %(account)s)));

-- name: keys_in_progress
-- List what the jobs in progress count against, by the same rule.
SELECT q.site, q.task, COALESCE(q.account, l.account_id) AS account_id
  FROM work_queue q FORCE INDEX (next_candidates)
  LEFT JOIN profile_leases l ON l.job_id = q.id AND l.job_fence = q.fence
 WHERE q.status = 'in_progress';
