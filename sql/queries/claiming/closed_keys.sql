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

-- name: keys_in_progress
-- List what the jobs in progress count against.
SELECT site, task, account AS account_id
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'in_progress';

-- name: read_tripped_breakers
-- List the breakers that do not let everything through; those that only count can be many.
SELECT name, state, reason,
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), until)) / 1000000 AS wait_seconds
  FROM breakers
 WHERE state <> 'closed';

-- name: unready_profiles
-- List profiles that cannot be leased now: not in a state for it, full, or of a paused account.
SELECT p.id, p.state, p.state_reason, NULL AS paused_reason, p.account_id,
       (SELECT MAX(holder) FROM profile_leases l WHERE l.profile_id = p.id) AS holder,
       (SELECT MAX(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), l.expires_at))
          FROM profile_leases l WHERE l.profile_id = p.id AND l.is_person) AS person_seconds
  FROM profiles p
 WHERE p.state IN ('leased', 'stale', 'review_required', 'quarantined', 'disabled')
   AND (p.state <> 'leased'
        OR EXISTS (SELECT 1 FROM profile_leases l
                    WHERE l.profile_id = p.id
                   HAVING COUNT(*) >= p.max_active_runs OR SUM(l.is_exclusive) > 0))
UNION ALL
SELECT p.id, p.state, p.state_reason, a.paused_reason, p.account_id, NULL, NULL
  FROM accounts a
  JOIN profiles p ON p.account_id = a.id
 WHERE a.paused_at IS NOT NULL;

-- name: profiles_without_proxy
-- List profiles whose proxy is gone, disabled, in another region or cooling down.
SELECT p.id, p.proxy, p.region AS wanted_region, x.name, x.region, x.is_enabled,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), x.cooling_until), 0))
         / 1000000 AS cooling_seconds
  FROM profiles p
  LEFT JOIN proxies x ON x.name = p.proxy
 WHERE p.proxy IS NOT NULL
   AND (x.name IS NULL OR NOT x.is_enabled OR x.cooling_until > UTC_TIMESTAMP(6)
        OR (p.region IS NOT NULL AND (x.region IS NULL OR x.region <> p.region)));

-- name: profiles_of_provider
-- List the ids of one provider's profiles that nobody holds.
SELECT id FROM profiles WHERE provider = %(provider)s AND state = 'available';

-- name: unready_accounts
-- List accounts that are paused or have no profile that can be leased now.
SELECT id, paused_reason, paused_by, NULL AS soon_seconds
  FROM accounts WHERE paused_at IS NOT NULL
UNION ALL
SELECT busy.account_id, NULL, NULL,
       (SELECT MIN(COALESCE((SELECT MAX(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), l.expires_at))
                               FROM profile_leases l
                              WHERE l.profile_id = p.id AND l.is_person), 2))
          FROM profiles p
         WHERE p.account_id = busy.account_id AND p.state IN ('leased', 'stale'))
  FROM (SELECT DISTINCT account_id
          FROM profiles
         WHERE state IN ('leased', 'stale', 'review_required', 'quarantined', 'disabled')
           AND account_id IS NOT NULL) busy
 WHERE NOT EXISTS (SELECT 1 FROM profiles p
                    WHERE p.account_id = busy.account_id
                      AND (p.state = 'available'
                           OR (p.state = 'leased'
                               AND (SELECT COUNT(*) FROM profile_leases l
                                     WHERE l.profile_id = p.id) < p.max_active_runs)));

-- name: waiting_accounts
-- List the accounts whose proxy cools down, and for how long.
SELECT a.account_id, p.name,
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), p.cooling_until) / 1000000 AS wait_seconds
  FROM proxies p
  JOIN account_proxies a ON a.proxy_id = p.id
 WHERE p.is_enabled AND p.cooling_until > UTC_TIMESTAMP(6);

-- name: without_proxied_jobs
-- A condition: leave out jobs that would need a proxy while none can be used.
AND profile IS NOT NULL

-- name: not_of_waiting_accounts
-- A condition: leave out jobs of accounts whose proxy cools down; a profile has its own.
AND (account IS NULL OR profile IS NOT NULL OR account NOT IN %(waiting_accounts)s)

-- name: not_where_all_proxies_cool
-- A condition: leave out jobs that go to a site which no proxy is left for; a profile has its own.
AND (profile IS NOT NULL OR COALESCE(site, '') NOT IN %(cooling_sites)s)

-- name: not_on_cooling_routes
-- A condition: leave out jobs whose profile's or account's proxy is left alone for their site.
AND (COALESCE(profile, account) IS NULL
     OR CONCAT(COALESCE(CONCAT('profile:', profile), CONCAT('account:', account)), '@',
               COALESCE(site, '')) NOT IN %(cooling_routes)s)
