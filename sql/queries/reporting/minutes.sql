-- name: bucket_bounds
-- The upper bounds of the histograms' buckets, in seconds.
0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10,
12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 180, 240, 300, 450, 600, 900, 1200, 1800,
3600, 7200, 10800, 14400, 21600, 28800, 43200, 86400, 172800, 604800

-- name: ended_attempts
-- Count what ended within a stretch of time, by minute, task, worker, ending and bucket. In one
-- statement, so that a job which is archived meanwhile is seen once. A job that was put back after
-- it was done keeps its finish in its row until the next claim has put it into the history.
SELECT g.*, w.run_id, COALESCE(w.slot, g.worker_id) AS slot
  FROM (SELECT minute, task, outcome, incarnation, worker_id,
               INTERVAL(run_seconds, /* include bucket_bounds */) AS duration,
               INTERVAL(wait_seconds, /* include bucket_bounds */) AS wait,
               COUNT(*) AS attempts, SUM(has_ended_job) AS failed, SUM(is_recovered) AS recovered,
               SUM(run_seconds) AS run_seconds, SUM(wait_seconds) AS wait_seconds
          FROM (SELECT TIMESTAMPDIFF(MINUTE, %(origin)s, finished_at) AS minute,
                       task, 'done' AS outcome, incarnation, worker_id, FALSE AS has_ended_job,
                       attempts > 1 AS is_recovered,
                       TIMESTAMPDIFF(MICROSECOND, started_at, finished_at) / 1000000 AS run_seconds,
                       IF(COALESCE(ready_at, created_at) <= started_at,
                          TIMESTAMPDIFF(MICROSECOND, COALESCE(ready_at, created_at), started_at)
                            / 1000000, NULL) AS wait_seconds
                  FROM work_queue q FORCE INDEX (finished_jobs)
                 WHERE finished_at >= %(start)s AND finished_at < %(end)s
                   AND (status = 'done'
                        OR (status = 'pending'
                            AND NOT EXISTS (SELECT 1 FROM job_attempts h
                                             WHERE h.job_id = q.id AND h.fence = q.fence
                                               AND h.outcome = 'done')))
                UNION ALL
                SELECT TIMESTAMPDIFF(MINUTE, %(origin)s, finished_at),
                       task, 'done', incarnation, worker_id, FALSE, attempts > 1,
                       TIMESTAMPDIFF(MICROSECOND, started_at, finished_at) / 1000000,
                       IF(COALESCE(ready_at, created_at) <= started_at,
                          TIMESTAMPDIFF(MICROSECOND, COALESCE(ready_at, created_at), started_at)
                            / 1000000, NULL)
                  FROM archived_jobs FORCE INDEX (archived_by_finish)
                 WHERE finished_at >= %(start)s AND finished_at < %(end)s AND status = 'done'
                UNION ALL
                SELECT TIMESTAMPDIFF(MINUTE, %(origin)s, h.finished_at),
                       COALESCE(q.task, ''), h.outcome, h.incarnation, h.worker_id,
                       h.has_ended_job, h.outcome = 'done' AND h.attempt > 1,
                       TIMESTAMPDIFF(MICROSECOND, h.started_at, h.finished_at) / 1000000,
                       IF(h.ready_at <= h.started_at,
                          TIMESTAMPDIFF(MICROSECOND, h.ready_at, h.started_at) / 1000000, NULL)
                  FROM job_attempts h FORCE INDEX (attempts_by_end)
                  LEFT JOIN work_queue q FORCE INDEX (PRIMARY) ON q.id = h.job_id
                 WHERE h.finished_at >= %(start)s AND h.finished_at < %(end)s
                UNION ALL
                SELECT TIMESTAMPDIFF(MINUTE, %(origin)s, h.finished_at),
                       COALESCE(a.task, ''), h.outcome, h.incarnation, h.worker_id,
                       h.has_ended_job, h.outcome = 'done' AND h.attempt > 1,
                       TIMESTAMPDIFF(MICROSECOND, h.started_at, h.finished_at) / 1000000,
                       IF(h.ready_at <= h.started_at,
                          TIMESTAMPDIFF(MICROSECOND, h.ready_at, h.started_at) / 1000000, NULL)
                  FROM archived_attempts h FORCE INDEX (archived_attempts_by_end)
                  LEFT JOIN archived_jobs a FORCE INDEX (PRIMARY)
                    ON a.id = h.job_id AND a.archived_at = h.archived_at
                 WHERE h.finished_at >= %(start)s AND h.finished_at < %(end)s) ended
         GROUP BY minute, task, outcome, incarnation, worker_id, duration, wait) g
  LEFT JOIN workers w FORCE INDEX (PRIMARY) ON w.id = g.incarnation;

-- name: end_of_stretch
-- Tell when the row of each kind ended that is `places` rows after a moment, from indexes alone.
(SELECT finished_at FROM work_queue FORCE INDEX (finished_jobs)
  WHERE finished_at >= %(start)s ORDER BY finished_at LIMIT %(places)s, 1)
UNION ALL
(SELECT finished_at FROM archived_jobs FORCE INDEX (archived_by_finish)
  WHERE finished_at >= %(start)s ORDER BY finished_at LIMIT %(places)s, 1)
UNION ALL
(SELECT finished_at FROM job_attempts FORCE INDEX (attempts_by_end)
  WHERE finished_at >= %(start)s ORDER BY finished_at LIMIT %(places)s, 1)
UNION ALL
(SELECT finished_at FROM archived_attempts FORCE INDEX (archived_attempts_by_end)
  WHERE finished_at >= %(start)s ORDER BY finished_at LIMIT %(places)s, 1);
