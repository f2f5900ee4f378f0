-- name: lock_profile
-- Read one profile and keep others from changing it until the transaction ends.
SELECT * FROM profiles WHERE id = %(id)s FOR UPDATE;

-- name: get_profile
-- Read one profile.
SELECT * FROM profiles WHERE id = %(id)s;

-- name: count_profiles
-- Count the profiles of each state, from the index alone.
SELECT state, COUNT(*) AS profiles FROM profiles GROUP BY state;

-- name: count_paused_accounts
-- Count the accounts that nothing is done for.
SELECT COUNT(*) AS accounts FROM accounts WHERE paused_at IS NOT NULL;

-- name: add_profile
-- Add a profile. One of that name may have been removed: fences go on from its last.
INSERT INTO profiles (id, account_id, proxy, provider, folder, vendor_id, endpoint, options, region,
                      max_active_runs, release_policy, allowed_actions, host, host_id, face,
                      state_since, created_at, fence)
VALUES (%(id)s, %(account_id)s, %(proxy)s, %(provider)s, %(folder)s, %(vendor_id)s, %(endpoint)s,
        %(options)s, %(region)s, %(max_active_runs)s, %(release_policy)s, %(allowed_actions)s,
        %(host)s, %(host_id)s, %(face)s, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6),
        COALESCE((SELECT MAX(fence) FROM profile_events WHERE profile_id = %(id)s), 0));

-- name: events_of_profile
-- List what happened to a profile, the latest first.
SELECT * FROM profile_events WHERE profile_id = %(id)s ORDER BY id DESC LIMIT %(limit)s;

-- name: add_account
-- Add an account, unless it is there.
INSERT IGNORE INTO accounts (id, created_at) VALUES (%(id)s, UTC_TIMESTAMP(6));

-- name: pause_account
-- Let nothing run for an account.
UPDATE accounts
   SET paused_reason = %(reason)s, paused_by = %(author)s, paused_at = UTC_TIMESTAMP(6)
 WHERE id = %(id)s;

-- name: resume_account
-- Let an account be used again.
UPDATE accounts SET paused_reason = NULL, paused_by = NULL, paused_at = NULL
 WHERE id = %(id)s AND paused_reason IS NOT NULL;

-- name: list_accounts
-- List accounts with the number of their profiles.
SELECT a.*, (SELECT COUNT(*) FROM profiles p WHERE p.account_id = a.id) AS profiles
  FROM accounts a
 ORDER BY a.id;

-- name: list_profiles
-- List profiles, those of one account or in one state if named.
SELECT p.*, (SELECT COUNT(*) FROM profile_leases l WHERE l.profile_id = p.id) AS leases,
       (SELECT COUNT(*) FROM profile_leases l
         WHERE l.profile_id = p.id AND l.is_person AND l.expires_at < UTC_TIMESTAMP(6)) AS overdue
  FROM profiles p
 WHERE (%(account_id)s IS NULL OR p.account_id = %(account_id)s)
   AND (%(state)s IS NULL OR p.state = %(state)s)
 ORDER BY p.id;
