-- name: slowest_of_minute
-- Find the job of a task that took longest among those done within a minute, archived or not.
SELECT id, seconds
  FROM (SELECT id, TIMESTAMPDIFF(MICROSECOND, started_at, finished_at) / 1000000 AS seconds
          FROM work_queue FORCE INDEX (finished_jobs)
         WHERE finished_at >= %(start)s AND finished_at < %(end)s
           AND status = 'done' AND task = %(task)s
        UNION ALL
        SELECT id, TIMESTAMPDIFF(MICROSECOND, started_at, finished_at) / 1000000
          FROM archived_jobs FORCE INDEX (archived_by_finish)
         WHERE finished_at >= %(start)s AND finished_at < %(end)s
           AND status = 'done' AND task = %(task)s) ended
 WHERE seconds IS NOT NULL
 ORDER BY seconds DESC
 LIMIT 1;
