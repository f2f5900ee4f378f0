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

-- name: drill_workers
-- List the processes that are registered as workers and not known to have ended.
SELECT pid, pid_started FROM workers WHERE ended_at IS NULL;

-- name: drill_connections
-- List the connections of the pool under test.
SELECT id FROM information_schema.processlist WHERE user = %(user)s;

-- name: create_finish_ledger
-- Make the table in which a trigger notes every finish.
CREATE TABLE finish_ledger (
  number BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  job_id BIGINT NOT NULL,
  fence  BIGINT NOT NULL,
  incarnation BIGINT NULL,
  started_at  DATETIME(6) NULL,
  finished_at DATETIME(6) NULL
) ENGINE = InnoDB;

-- name: create_finish_trigger
-- Note every change of a job to done.
CREATE TRIGGER note_finishes AFTER UPDATE ON work_queue FOR EACH ROW
INSERT INTO finish_ledger (job_id, fence, incarnation, started_at, finished_at)
SELECT NEW.id, NEW.fence, NEW.incarnation, NEW.started_at, NEW.finished_at FROM DUAL WHERE NEW.status = 'done' AND OLD.status <> 'done';

-- name: count_finishes
-- Count how often each job was finished.
SELECT job_id, COUNT(*) AS times FROM finish_ledger GROUP BY job_id;

-- name: enqueue_drill_jobs
-- Add jobs of several tasks, in the order given.
INSERT INTO work_queue (task, payload) VALUES (%(task)s, %(payload)s);
