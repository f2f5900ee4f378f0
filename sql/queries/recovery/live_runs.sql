-- name: run_columns
-- A run with its launcher's process, and for how long it has been silent.
r.id, r.host, r.machine_id, r.boot_id, r.pid_namespace, r.pid, r.pid_started, r.first_slot, r.workers,
r.total, r.slots, r.started_at, r.heartbeat_at, r.ended_at, r.summary, r.pulse, r.queues, r.tasks,
TIMESTAMPDIFF(MICROSECOND, r.heartbeat_at, UTC_TIMESTAMP(6)) / 1000000 AS silent_seconds

-- name: hosts_of_workers
-- Tell on which host each of these incarnations was.
SELECT w.id, r.host FROM workers w JOIN runs r ON r.id = w.run_id WHERE w.id IN %(ids)s;

-- name: runs_of_workers
-- Tell of which run each of these incarnations was.
SELECT id, run_id FROM workers WHERE id IN %(ids)s;

-- name: unended_runs
-- List the runs that have beaten lately and recorded no end, the newest first.
SELECT /* include run_columns */
  FROM runs r FORCE INDEX (runs_by_heartbeat)
 WHERE r.heartbeat_at > UTC_TIMESTAMP(6) - INTERVAL %(seconds)s SECOND AND r.ended_at IS NULL
 ORDER BY r.id DESC
 LIMIT %(limit)s;

-- name: newest_runs
-- List runs by number, the newest first, from behind a number.
SELECT /* include run_columns */
  FROM runs r
 WHERE r.id < COALESCE(%(before)s, ~0)
 ORDER BY r.id DESC
 LIMIT %(limit)s;
