-- name: not_at_closed_sites
-- A condition: leave out jobs that go to a site which lets nothing through now.
AND (site IS NULL OR site NOT IN %(closed_sites)s)

-- name: not_of_closed_tasks
-- A condition: leave out jobs of tasks that have reached their limit.
AND task NOT IN %(closed_tasks)s

-- name: not_of_closed_accounts
-- A condition: leave out jobs of accounts that cannot be used now.
AND (account IS NULL OR account NOT IN %(closed_accounts)s)

-- name: not_of_closed_profiles
-- A condition: leave out jobs of profiles that are busy or not ready.
AND (profile IS NULL OR profile NOT IN %(closed_profiles)s)

-- name: is_anything_gated
-- Tell in one look whether anybody uses limits, breakers, proxies, profiles or accounts at all.
SELECT EXISTS (SELECT 1 FROM limits) OR EXISTS (SELECT 1 FROM breakers)
       OR EXISTS (SELECT 1 FROM proxies) OR EXISTS (SELECT 1 FROM profiles)
       OR EXISTS (SELECT 1 FROM accounts) AS is_gated;

-- name: read_limits
-- List all limits, and for how many seconds their rate lets nothing start.
SELECT name, concurrent, per_minute, set_by, set_at,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), next_start_at), 0))
         / 1000000 AS wait_seconds
  FROM limits
 ORDER BY name;

-- name: keys_in_progress
-- List what the jobs in progress count against.
SELECT site, task, account AS account_id
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'in_progress';

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
