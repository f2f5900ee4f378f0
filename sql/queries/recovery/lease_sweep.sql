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
