-- name: lock_profile
-- Read one profile and keep others from changing it until the transaction ends.
SELECT * FROM profiles WHERE id = %(id)s FOR UPDATE;

-- name: get_profile
-- Read one profile.
SELECT * FROM profiles WHERE id = %(id)s;

-- name: list_profiles
-- List profiles, those of one account or in one state if named.
SELECT p.*, (SELECT COUNT(*) FROM profile_leases l WHERE l.profile_id = p.id) AS leases
  FROM profiles p
 WHERE (%(account_id)s IS NULL OR p.account_id = %(account_id)s)
   AND (%(state)s IS NULL OR p.state = %(state)s)
 ORDER BY p.id;

-- name: count_profiles
-- Count the profiles of each state, from the index alone.
SELECT state, COUNT(*) AS profiles FROM profiles GROUP BY state;

-- name: count_paused_accounts
-- Count the accounts that nothing is done for.
SELECT COUNT(*) AS accounts FROM accounts WHERE paused_at IS NOT NULL;

-- name: profiles_of_account
-- List the ids of an account's profiles, those that rested longest first.
SELECT id FROM profiles
 WHERE account_id = %(account_id)s
 ORDER BY state = 'available' DESC, state_since, id;

-- name: add_profile
-- Add a profile. One of that name may have been removed: fences go on from its last.
INSERT INTO profiles (id, account_id, proxy, provider, folder, vendor_id, endpoint, options, region,
                      max_active_runs, release_policy, allowed_actions, state_since, created_at,
                      fence)
VALUES (%(id)s, %(account_id)s, %(proxy)s, %(provider)s, %(folder)s, %(vendor_id)s, %(endpoint)s,
        %(options)s, %(region)s, %(max_active_runs)s, %(release_policy)s, %(allowed_actions)s,
        UTC_TIMESTAMP(6), UTC_TIMESTAMP(6),
        COALESCE((SELECT MAX(fence) FROM profile_events WHERE profile_id = %(id)s), 0));

-- name: change_profile
-- Change what a locked profile consists of; its provider stays.
UPDATE profiles
   SET account_id = %(account_id)s, proxy = %(proxy)s, folder = %(folder)s,
       vendor_id = %(vendor_id)s, endpoint = %(endpoint)s, options = %(options)s,
       region = %(region)s, max_active_runs = %(max_active_runs)s,
       release_policy = %(release_policy)s, allowed_actions = %(allowed_actions)s
 WHERE id = %(id)s;

-- name: remove_profile
-- Remove a locked profile; what happened to it is kept.
DELETE FROM profiles WHERE id = %(id)s;

-- name: jobs_waiting_for_profile
-- Count the pending jobs that name a profile, or an account and no profile.
SELECT COUNT(*) AS jobs, MIN(id) AS first_id
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'pending'
   AND (profile = %(profile)s OR (profile IS NULL AND account = %(account)s));

-- name: set_profile_state
-- Move a profile from the state it was read in to another.
UPDATE profiles
   SET state = %(state)s, state_reason = %(reason)s, state_by = %(author)s,
       state_since = UTC_TIMESTAMP(6)
 WHERE id = %(id)s AND state = %(old_state)s;

-- name: add_profile_event
-- Remember something that happened to a profile.
INSERT INTO profile_events (profile_id, account_id, at, event, from_state, to_state, fence, job_id,
                            author, reason, decision, next_check)
VALUES (%(profile_id)s, %(account_id)s, UTC_TIMESTAMP(6), %(event)s, %(from_state)s, %(to_state)s,
        %(fence)s, %(job_id)s, %(author)s, %(reason)s, %(decision)s,
        UTC_TIMESTAMP(6) + INTERVAL %(next_check_seconds)s SECOND);

-- name: events_of_profile
-- List what happened to a profile, the latest first.
SELECT * FROM profile_events WHERE profile_id = %(id)s ORDER BY id DESC LIMIT %(limit)s;

-- name: first_conflict
-- Tell for how many seconds a job has been waiting for its profile since it last ran.
SELECT TIMESTAMPDIFF(MICROSECOND, MIN(at), UTC_TIMESTAMP(6)) / 1000000 AS seconds
  FROM profile_events
 WHERE job_id = %(job_id)s AND event = 'profile_lock_conflict'
   AND at > COALESCE((SELECT started_at FROM work_queue WHERE id = %(job_id)s), '2000-01-01');

-- name: add_account
-- Add an account, unless it is there.
INSERT IGNORE INTO accounts (id, created_at) VALUES (%(id)s, UTC_TIMESTAMP(6));

-- name: get_account
-- Read one account.
SELECT * FROM accounts WHERE id = %(id)s;

-- name: list_accounts
-- List accounts with the number of their profiles.
SELECT a.*, (SELECT COUNT(*) FROM profiles p WHERE p.account_id = a.id) AS profiles
  FROM accounts a
 ORDER BY a.id;

-- name: pause_account
-- Let nothing run for an account.
UPDATE accounts
   SET paused_reason = %(reason)s, paused_by = %(author)s, paused_at = UTC_TIMESTAMP(6)
 WHERE id = %(id)s;

-- name: resume_account
-- Let an account be used again.
UPDATE accounts SET paused_reason = NULL, paused_by = NULL, paused_at = NULL
 WHERE id = %(id)s AND paused_reason IS NOT NULL;

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

-- name: note_wait
-- Say on a pending job what it waits for, once, and let it wait for a time if one is given.
UPDATE work_queue
   SET wait_reason = %(reason)s,
       not_before = UTC_TIMESTAMP(6) + INTERVAL %(delay_seconds)s SECOND
 WHERE id = %(id)s AND status = 'pending' AND not_before IS NULL
   AND (wait_reason IS NULL OR wait_reason <> %(reason)s OR %(delay_seconds)s IS NOT NULL);

-- name: proxy_of_profile
-- Read whether a profile's proxy can be used, as a whole and for one site.
SELECT p.name, p.region, p.is_enabled,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), p.cooling_until), 0))
         / 1000000 AS cooling_seconds,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), b.cooling_until), 0))
         / 1000000 AS site_seconds
  FROM proxies p
  LEFT JOIN proxy_blocks b ON b.proxy_id = p.id AND b.site = %(site)s
 WHERE p.name = %(name)s;
