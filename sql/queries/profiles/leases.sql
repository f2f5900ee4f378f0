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

-- name: renew_leases
-- Extend what living workers hold, for the whole pool in one statement.
UPDATE profile_leases
   SET heartbeat_at = UTC_TIMESTAMP(6),
       expires_at = UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND
 WHERE incarnation IN %(incarnations)s;

-- name: note_step
-- Keep the last safe step of the task that holds a profile.
UPDATE profile_leases
   SET last_step = %(step)s, last_url = %(url)s
 WHERE profile_id = %(profile_id)s AND fence = %(fence)s;

-- name: want_review
-- Keep why a person should look at a profile before it is used again.
UPDATE profile_leases SET review_reason = %(reason)s
 WHERE profile_id = %(profile_id)s AND fence = %(fence)s;

-- name: end_lease
-- End one hold on a profile; none is left when it had ended before.
DELETE FROM profile_leases WHERE profile_id = %(profile_id)s AND fence = %(fence)s;

-- name: end_expired_lease
-- End one hold on a profile, unless it has been renewed meanwhile.
DELETE FROM profile_leases
 WHERE profile_id = %(profile_id)s AND fence = %(fence)s AND expires_at < UTC_TIMESTAMP(6);

-- name: leases_of_incarnation
-- List what one incarnation holds.
SELECT profile_id, fence FROM profile_leases WHERE incarnation = %(incarnation)s;

-- name: expired_leases
-- List leases that were not renewed in time.
SELECT profile_id, fence, holder, is_person,
       TIMESTAMPDIFF(SECOND, expires_at, UTC_TIMESTAMP(6)) AS overdue_seconds
  FROM profile_leases
 WHERE expires_at < UTC_TIMESTAMP(6)
 ORDER BY expires_at
 LIMIT %(limit)s;

-- name: leases_with_owners
-- List all leases of workers with the processes of the worker and its launcher.
SELECT l.profile_id, l.fence, l.holder, w.pid, w.pid_started, w.run_id,
       r.machine_id, r.boot_id, r.pid_namespace,
       r.pid AS launcher_pid, r.pid_started AS launcher_started,
       TIMESTAMPDIFF(MICROSECOND, r.heartbeat_at, UTC_TIMESTAMP(6)) / 1000000 AS silent_seconds
  FROM profile_leases l
  JOIN workers w ON w.id = l.incarnation
  JOIN runs r ON r.id = w.run_id;
