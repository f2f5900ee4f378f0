-- name: drill_jobs
-- Read how every job of the drill stands.
SELECT id, task, status, fence FROM work_queue;

-- name: drill_attempts
-- Read every claim that has ended, with the process that held it; times as seconds of the epoch.
SELECT a.job_id, a.fence, a.outcome, a.incarnation, a.reason, w.pid, w.pid_started,
       CAST(UNIX_TIMESTAMP(a.started_at) AS DOUBLE) AS started_at,
       CAST(UNIX_TIMESTAMP(a.finished_at) AS DOUBLE) AS finished_at
  FROM job_attempts a
  LEFT JOIN workers w ON w.id = a.incarnation
 ORDER BY a.job_id, a.fence;

-- name: drill_workers
-- List the processes that are registered as workers and not known to have ended.
SELECT pid, pid_started FROM workers WHERE ended_at IS NULL;

-- name: drill_connections
-- List the connections of the pool under test.
SELECT id FROM information_schema.processlist WHERE user = %(user)s;
