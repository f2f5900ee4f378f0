-- name: get_account
-- Read one account.
SELECT * FROM accounts WHERE id = %(id)s;

-- name: proxy_of_profile
-- Read whether a profile's proxy can be used, as a whole and for one site.
SELECT p.name, p.region, p.is_enabled, p.cooling_reason,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), p.cooling_until), 0))
         / 1000000 AS cooling_seconds,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), b.cooling_until), 0))
         / 1000000 AS site_seconds
  FROM proxies p
  LEFT JOIN proxy_blocks b ON b.proxy_id = p.id AND b.site = %(site)s
 WHERE p.name = %(name)s;

-- name: count_provider_leases
-- Count the leases on profiles of one provider, for its plan's cap.
SELECT COUNT(*) AS leases
  FROM profile_leases l
  JOIN profiles p ON p.id = l.profile_id
 WHERE p.provider = %(provider)s;

-- name: profiles_out_of_use
-- List profiles that may not be ready: held, set aside, or of a paused account.
SELECT p.id, p.account_id, p.state, p.state_reason, p.max_active_runs, p.provider, p.folder, p.host,
       p.host_id, p.fence, p.stop_tries, a.paused_reason
  FROM profiles p
  LEFT JOIN accounts a ON a.id = p.account_id
 WHERE p.state IN ('leased', 'stale', 'review_required', 'quarantined', 'disabled')
UNION ALL
SELECT p.id, p.account_id, p.state, p.state_reason, p.max_active_runs, p.provider, p.folder, p.host,
       p.host_id, p.fence, p.stop_tries, a.paused_reason
  FROM accounts a
  JOIN profiles p ON p.account_id = a.id
 WHERE a.paused_at IS NOT NULL AND p.state = 'available';

-- name: all_leases
-- List who holds which profile now: as many rows as there are workers and people at work.
SELECT profile_id, holder, job_id, is_person, is_exclusive,
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expires_at) / 1000000 AS left_seconds
  FROM profile_leases
 ORDER BY profile_id, fence;

-- name: profiles_without_proxy
-- List profiles whose proxy is gone, disabled, in another region or cooling down, and, where there
-- are proxies, those that say nothing of one.
SELECT p.id, p.account_id, p.proxy, p.region AS wanted_region,
       x.name AS proxy_name, x.region, x.is_enabled, x.cooling_reason,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), x.cooling_until), 0))
         / 1000000 AS cooling_seconds
  FROM profiles p
  LEFT JOIN proxies x ON x.name = p.proxy
 WHERE (p.proxy <> 'none'
        AND (x.name IS NULL OR NOT x.is_enabled OR x.cooling_until > UTC_TIMESTAMP(6)
             OR (p.region IS NOT NULL AND (x.region IS NULL OR x.region <> p.region))))
    OR (p.proxy IS NULL AND EXISTS (SELECT 1 FROM proxies));

-- name: profiles_by_id
-- List these profiles with their accounts.
SELECT id, account_id FROM profiles WHERE id IN %(ids)s;

-- name: profiles_of_provider
-- List one provider's profiles that nobody holds.
SELECT id, account_id FROM profiles WHERE provider = %(provider)s AND state = 'available';

-- name: count_profiles_of_accounts
-- Count the profiles of accounts, ready or not.
SELECT account_id, COUNT(*) AS profiles
  FROM profiles
 WHERE account_id IN %(accounts)s
 GROUP BY account_id;

-- name: paused_accounts
-- List the accounts that nothing is done for.
SELECT id, paused_reason FROM accounts WHERE paused_at IS NOT NULL;

-- name: profiles_of_accounts
-- List the profiles of accounts.
SELECT id, account_id FROM profiles WHERE account_id IN %(accounts)s;
