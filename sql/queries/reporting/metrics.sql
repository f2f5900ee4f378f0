-- name: jobs_of_status
-- Count the jobs of a status up to a number, from the index alone.
SELECT COUNT(*) AS jobs
  FROM (SELECT 1
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = %(status)s
         LIMIT %(limit)s) c;

-- name: queues_of_first_jobs
-- Count the first jobs of a status in the index's order by queue; their rows are read.
SELECT queue, COUNT(*) AS jobs
  FROM (SELECT queue
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = %(status)s
         ORDER BY not_before, priority, id
         LIMIT %(limit)s) c
 GROUP BY queue;

-- name: queues_of_last_jobs
-- Count the last jobs of a status in the index's order by queue; their rows are read.
SELECT queue, COUNT(*) AS jobs
  FROM (SELECT queue
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = %(status)s
         ORDER BY not_before DESC, priority DESC, id DESC
         LIMIT %(limit)s) c
 GROUP BY queue;

-- name: first_ready_jobs
-- Tell of the first ready jobs behind a priority which priority they have and when they got ready.
SELECT priority, COALESCE(ready_at, created_at) AS ready_at
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'pending' AND not_before IS NULL AND priority > %(behind)s
 ORDER BY priority, id
 LIMIT %(limit)s;

-- name: oldest_running_job
-- Tell when the job was started that is at work for the longest time.
SELECT MIN(started_at) AS started_at
  FROM (SELECT started_at
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'in_progress'
         LIMIT %(limit)s) c;

-- name: restarts_of_runs
-- Count the workers of some runs that were started in the place of another.
SELECT run_id, COUNT(*) - COUNT(DISTINCT slot) AS restarts
  FROM workers FORCE INDEX (workers_of_a_run)
 WHERE run_id IN %(run_ids)s
 GROUP BY run_id;

-- name: recent_failures
-- Count the latest failed attempts by cause and by the profile's provider.
SELECT h.outcome, COALESCE(h.cause, 'unknown') AS cause, COALESCE(p.provider, 'none') AS provider,
       COUNT(*) AS attempts
  FROM (SELECT job_id, outcome, cause
          FROM job_attempts FORCE INDEX (attempts_by_end)
         WHERE finished_at >= UTC_TIMESTAMP(6) - INTERVAL %(seconds)s SECOND
           AND outcome NOT IN ('done', 'handed_back')
         ORDER BY finished_at DESC
         LIMIT %(limit)s) h
  LEFT JOIN work_queue q ON q.id = h.job_id
  LEFT JOIN profiles p ON p.id = q.profile
 GROUP BY h.outcome, cause, provider;

-- name: webhooks_of_state
-- Count the webhooks that are due and those given up, each up to a number, from the index alone.
SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM outbox FORCE INDEX (next_deliveries)
                               WHERE next_try_at <= UTC_TIMESTAMP(6) LIMIT %(limit)s) c) AS due,
       (SELECT COUNT(*) FROM (SELECT 1 FROM outbox FORCE INDEX (next_deliveries)
                               WHERE next_try_at IS NULL AND delivered_at IS NULL
                               LIMIT %(limit)s) c) AS given_up;
