-- name: claim_columns
-- What a claim is known and judged by.
q.id, q.fence, q.incarnation, q.attempts, q.max_attempts, q.blocks, q.crashes, q.forgiven,
       q.worker_id, q.task, q.irreversible_step, q.used_profile, q.used_account, q.used_proxy

-- name: claim_age
-- How long ago a job was claimed.
TIMESTAMPDIFF(MICROSECOND, q.started_at, UTC_TIMESTAMP(6)) / 1000000 AS claim_seconds

-- name: expired_claims
-- List claims that have outlived their lease, after an id; for a while without those of a worker
-- whose run still beats: somebody holds the job's row, so that it could not be renewed.
SELECT /* include claim_columns */, /* include claim_age */,
       TIMESTAMPDIFF(SECOND, q.lease_until, UTC_TIMESTAMP(6)) AS overdue_seconds
  FROM work_queue q
  LEFT JOIN workers w ON w.id = q.incarnation
  LEFT JOIN runs r ON r.id = w.run_id
 WHERE q.status = 'in_progress' AND q.lease_until < UTC_TIMESTAMP(6) AND q.id > %(after)s
   AND NOT COALESCE(w.ended_at IS NULL AND r.ended_at IS NULL
                    AND r.heartbeat_at > UTC_TIMESTAMP(6) - INTERVAL %(beat_seconds)s SECOND
                    AND r.heartbeat_at > q.lease_until - INTERVAL %(renewed_seconds)s SECOND
                    AND q.lease_until > UTC_TIMESTAMP(6) - INTERVAL %(locked_seconds)s SECOND,
                    FALSE)
 ORDER BY q.id
 LIMIT %(limit)s;

-- name: claims_with_owners
-- List all claims with the processes of their worker and its launcher.
SELECT /* include claim_columns */, /* include claim_age */,
       w.pid, w.pid_started, w.run_id,
       r.machine_id, r.boot_id, r.pid_namespace,
       r.pid AS launcher_pid, r.pid_started AS launcher_started,
       TIMESTAMPDIFF(MICROSECOND, r.heartbeat_at, UTC_TIMESTAMP(6)) / 1000000 AS silent_seconds
  FROM work_queue q FORCE INDEX (next_candidates)
  JOIN workers w ON w.id = q.incarnation
  JOIN runs r ON r.id = w.run_id
 WHERE q.status = 'in_progress';

-- name: server_uptime
-- Tell how long the server has been up; before that nobody could renew anything.
SHOW GLOBAL STATUS LIKE 'Uptime';

-- name: expired_leases
-- List leases of workers that were not renewed in time; a person's stays theirs. For a while without
-- those of a worker whose run still beats: somebody holds the lease's row, so it was passed over.
SELECT l.profile_id, l.fence, l.holder,
       TIMESTAMPDIFF(SECOND, l.expires_at, UTC_TIMESTAMP(6)) AS overdue_seconds
  FROM profile_leases l
  LEFT JOIN workers w ON w.id = l.incarnation
  LEFT JOIN runs r ON r.id = w.run_id
 WHERE l.expires_at < UTC_TIMESTAMP(6) AND NOT l.is_person
   AND NOT COALESCE(w.ended_at IS NULL AND r.ended_at IS NULL
                    AND r.heartbeat_at > UTC_TIMESTAMP(6) - INTERVAL %(beat_seconds)s SECOND
                    AND r.heartbeat_at > l.heartbeat_at + INTERVAL 1 SECOND
                    AND l.expires_at > UTC_TIMESTAMP(6) - INTERVAL %(locked_seconds)s SECOND,
                    FALSE)
 ORDER BY l.expires_at
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
