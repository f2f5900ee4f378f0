-- name: drill_jobs
-- Read how every job of the drill stands.
SELECT id, task, status, fence FROM work_queue;

-- name: drill_attempts
-- Read every claim that has ended, with the process that held it; times as seconds of the epoch.
-- Finishes are those that the server itself has noted.
SELECT a.job_id, a.fence, a.outcome, a.incarnation, a.reason, w.pid, w.pid_started,
       CAST(UNIX_TIMESTAMP(a.started_at) AS DOUBLE) AS started_at,
       CAST(UNIX_TIMESTAMP(a.finished_at) AS DOUBLE) AS finished_at
  FROM (SELECT job_id, fence, outcome, incarnation, reason, started_at, finished_at
          FROM job_attempts
         WHERE outcome <> 'done'
         UNION ALL
        SELECT job_id, fence, 'done', incarnation, NULL, started_at, finished_at
          FROM finish_ledger) a
  LEFT JOIN workers w ON w.id = a.incarnation
 ORDER BY a.job_id, a.fence;
