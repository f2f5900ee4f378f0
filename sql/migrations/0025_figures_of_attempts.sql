-- When a job last became ready, for its waiting time. It is written when a wait ends and when a job
-- comes back, never by a claim or a finish.
ALTER TABLE work_queue
  ADD COLUMN ready_at DATETIME(6) NULL
      COMMENT 'since when it may be claimed; NULL: since it was added';

ALTER TABLE archived_jobs ADD COLUMN ready_at DATETIME(6) NULL;

-- Attempts in the order they ended, each with its waiting time and whether its job failed with it.
ALTER TABLE job_attempts
  ADD COLUMN ready_at      DATETIME(6) NULL COMMENT 'since when it could have been claimed; NULL: not known',
  ADD COLUMN has_ended_job BOOLEAN     NOT NULL DEFAULT FALSE
      COMMENT 'whether the job failed for good with it',
  ADD KEY attempts_by_end (finished_at);

ALTER TABLE archived_attempts
  ADD COLUMN ready_at      DATETIME(6) NULL,
  ADD COLUMN has_ended_job BOOLEAN     NOT NULL DEFAULT FALSE,
  ADD KEY archived_attempts_by_end (finished_at);

UPDATE job_attempts h
  JOIN work_queue q ON q.id = h.job_id AND q.fence = h.fence
   SET h.has_ended_job = TRUE
 WHERE q.status = 'error';

UPDATE archived_attempts h
  JOIN archived_jobs a ON a.id = h.job_id AND a.archived_at = h.archived_at AND a.fence = h.fence
   SET h.has_ended_job = TRUE
 WHERE a.status = 'error';

-- What a run's heart knows of the queue and of its workers, written with every heartbeat.
ALTER TABLE runs
  ADD COLUMN pulse JSON NULL COMMENT 'counts of the queue, and what each worker is doing',
  ADD KEY runs_by_heartbeat (heartbeat_at);
