-- name: worker_process
-- Read the process of one incarnation, and the machine it ran on.
SELECT w.pid, w.pid_started, r.machine_id, r.boot_id, r.pid_namespace,
       TIMESTAMPDIFF(MICROSECOND, r.heartbeat_at, UTC_TIMESTAMP(6)) / 1000000 AS silent_seconds
  FROM workers w
  JOIN runs r ON r.id = w.run_id
 WHERE w.id = %(incarnation)s;
