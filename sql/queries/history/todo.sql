-- name: half_done_groups
-- Group the jobs that broke off at an irreversible step: only a person knows what to do.
SELECT fingerprint, MIN(task) AS task, MIN(irreversible_step) AS step, COUNT(*) AS jobs,
       MIN(id) AS first_id, MIN(finished_at) AS since
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'error' AND irreversible_step IS NOT NULL
 GROUP BY fingerprint
 ORDER BY since;

-- name: profiles_set_aside
-- List the profiles that nothing runs in before somebody has looked.
SELECT id, account_id, state, state_reason, state_since
  FROM profiles
 WHERE state IN ('review_required', 'quarantined', 'disabled')
 ORDER BY state_since;

-- name: profiles_that_may_run
-- List the profiles whose browser could not be stopped, however often that was tried.
SELECT id, state_reason, state_since, stop_tries
  FROM profiles
 WHERE state = 'stale' AND stop_tries >= %(tries)s
 ORDER BY state_since;

-- name: overdue_checkouts
-- List the profiles that a person should have returned.
SELECT l.profile_id, l.account_id, l.holder, l.expires_at
  FROM profile_leases l
 WHERE l.is_person AND l.expires_at < UTC_TIMESTAMP(6)
 ORDER BY l.expires_at;

-- name: accounts_paused_by_hand
-- List the paused accounts.
SELECT id, paused_reason, paused_by, paused_at
  FROM accounts
 WHERE paused_at IS NOT NULL
 ORDER BY paused_at;

-- name: proxies_out_of_use
-- List the proxies that somebody has disabled, those that refuse the login and have not worked
-- since, and those that profiles name and that are not there.
SELECT name, is_enabled, IF(is_enabled, cooling_reason, disabled_reason) AS reason
  FROM proxies
 WHERE NOT is_enabled OR (failures > 0 AND LOCATE(%(refuses)s, cooling_reason) > 0)
UNION ALL
SELECT p.proxy, FALSE, NULL
  FROM profiles p
  LEFT JOIN proxies x ON x.name = p.proxy
 WHERE p.proxy <> 'none' AND x.name IS NULL
 GROUP BY p.proxy
 ORDER BY name;

-- name: breakers_held_open
-- List the breakers that stay open until somebody closes them.
SELECT name, reason, held_by, opened_at
  FROM breakers
 WHERE held = 'open' AND state <> 'closed'
 ORDER BY opened_at;

-- name: places_of_profiles
-- Read of each profile what a job may hang on.
SELECT id, account_id, proxy, state FROM profiles;

-- name: pending_jobs_by_place
-- Count the pending jobs of each profile and account, of as many pending jobs as are looked at.
SELECT profile, account, COUNT(*) AS jobs
  FROM (SELECT profile, account
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending'
         LIMIT %(limit)s) looked_at
 WHERE profile IS NOT NULL OR account IS NOT NULL
 GROUP BY profile, account;

-- name: pending_jobs_of_site
-- Count the pending jobs of a site, of as many pending jobs as are looked at.
SELECT COALESCE(SUM(site = %(site)s), 0) AS jobs
  FROM (SELECT site
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending'
         LIMIT %(limit)s) looked_at;
