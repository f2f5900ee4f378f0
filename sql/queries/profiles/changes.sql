-- name: change_profile
-- Change what a locked profile consists of; its provider stays.
UPDATE profiles
   SET account_id = %(account_id)s, proxy = %(proxy)s, folder = %(folder)s,
       vendor_id = %(vendor_id)s, endpoint = %(endpoint)s, options = %(options)s,
       region = %(region)s, max_active_runs = %(max_active_runs)s,
       release_policy = %(release_policy)s, allowed_actions = %(allowed_actions)s,
       face = %(face)s
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
