-- name: latest_run
-- Read the run that was started last.
SELECT *, TIMESTAMPDIFF(MICROSECOND, heartbeat_at, UTC_TIMESTAMP(6)) / 1000000 AS silent_seconds
  FROM runs ORDER BY id DESC LIMIT 1;

-- name: start_run
-- Record that a launcher has begun.
INSERT INTO runs (host, machine_id, boot_id, pid_namespace, pid, pid_started,
                  first_slot, workers, total, slots, queues, tasks, pulse, started_at,
                  heartbeat_at)
VALUES (%(host)s, %(machine_id)s, %(boot_id)s, %(pid_namespace)s, %(pid)s, %(pid_started)s,
        %(first_slot)s, %(workers)s, %(total)s, %(slots)s, %(queues)s, %(tasks)s,
        %(pulse)s, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6));

-- name: pulse_of_run
-- Read what a run last told of itself.
SELECT pulse FROM runs WHERE id = %(run_id)s;

-- name: beat_run
-- Record that a launcher lives, and how its queue and its workers stand.
UPDATE runs SET heartbeat_at = UTC_TIMESTAMP(6), pulse = %(pulse)s
 WHERE id = %(run_id)s;

-- name: end_run
-- Record how a run ended.
UPDATE runs SET ended_at = UTC_TIMESTAMP(6), summary = %(summary)s WHERE id = %(run_id)s;

-- name: start_worker
-- Record a new incarnation; its id is what its claims are held by.
INSERT INTO workers (id, run_id, slot, pid, pid_started, started_at)
VALUES (%(id)s, %(run_id)s, %(slot)s, %(pid)s, %(pid_started)s, UTC_TIMESTAMP(6));

-- name: end_worker
-- Record how an incarnation ended.
UPDATE workers SET ended_at = UTC_TIMESTAMP(6), ending = %(ending)s
 WHERE id = %(incarnation)s AND ended_at IS NULL;
