-- name: leases_of_profile
-- List who holds a profile now.
SELECT *, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expires_at) / 1000000 AS left_seconds
  FROM profile_leases
 WHERE profile_id = %(profile_id)s
 ORDER BY fence;

-- name: next_profile_fence
-- Count up the fence of a locked profile.
UPDATE profiles SET fence = fence + 1 WHERE id = %(id)s;

-- name: add_lease
-- Hold a profile for a while.
INSERT INTO profile_leases (profile_id, fence, account_id, holder, is_person, is_exclusive, run_id,
                            incarnation, job_id, job_fence, proxy, release_policy, acquired_at,
                            heartbeat_at, expires_at)
VALUES (%(profile_id)s, %(fence)s, %(account_id)s, %(holder)s, %(is_person)s, %(is_exclusive)s,
        (SELECT run_id FROM workers WHERE id = %(incarnation)s), %(incarnation)s, %(job_id)s,
        %(job_fence)s, %(proxy)s, %(release_policy)s, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6),
        UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND);

-- name: leases_of_incarnations
-- List what living workers hold, without a lock.
SELECT profile_id, fence, incarnation
  FROM profile_leases
 WHERE incarnation IN %(incarnations)s;

-- name: renew_leases
-- Extend what living workers hold, for the whole pool in one statement. By any other index it would
-- wait for rows that are not its own.
UPDATE profile_leases FORCE INDEX (PRIMARY)
   SET heartbeat_at = UTC_TIMESTAMP(6),
       expires_at = UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND
 WHERE profile_id IN %(profiles)s AND (profile_id, fence, incarnation) IN %(leases)s;

-- name: renew_lease
-- Extend one of them. Found by its whole key, which a server may not see in a list: MariaDB 11.8 then
-- waits for the leases of fellows on the same profile.
UPDATE profile_leases FORCE INDEX (PRIMARY)
   SET heartbeat_at = UTC_TIMESTAMP(6),
       expires_at = UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND
 WHERE profile_id = %(profile_id)s AND fence = %(fence)s AND incarnation = %(incarnation)s;

-- name: note_step
-- Keep the last step of the task that holds a profile.
UPDATE profile_leases
   SET last_step = %(step)s, last_url = %(url)s, step_kind = %(kind)s
 WHERE profile_id = %(profile_id)s AND fence = %(fence)s;

-- name: want_review
-- Keep why a person should look at a profile before it is used again.
UPDATE profile_leases SET review_reason = %(reason)s
 WHERE profile_id = %(profile_id)s AND fence = %(fence)s;
