-- name: ended_by_queue
-- Count by queue the jobs that ended within a stretch of time and stand so still, archived or not;
-- without those that a person has discarded.
SELECT queue, SUM(status = 'done') AS done, SUM(status = 'error') AS failed
  FROM (SELECT queue, status
          FROM work_queue FORCE INDEX (finished_jobs)
         WHERE finished_at >= %(start)s AND finished_at < %(end)s
           AND status IN ('done', 'error')
        UNION ALL
        SELECT queue, status
          FROM archived_jobs FORCE INDEX (archived_by_finish)
         WHERE finished_at >= %(start)s AND finished_at < %(end)s
           AND status IN ('done', 'error') AND archive_reason NOT LIKE 'discarded by %%') ended
 GROUP BY queue;

-- name: batches_of_night
-- List the batches that were finished within a night, the latest first, with the number of all.
SELECT name, created_at, finished_at, done, failed, cancelled, COUNT(*) OVER () AS of_all
  FROM batches FORCE INDEX (batches_by_end)
 WHERE finished_at >= %(start)s AND finished_at < %(end)s
 ORDER BY finished_at DESC
 LIMIT %(limit)s;

-- name: count_open_batches
-- Count the batches that are not finished.
SELECT COUNT(*) AS batches FROM batches FORCE INDEX (batches_by_end) WHERE finished_at IS NULL;

-- name: count_follow_ups
-- Count the jobs within a range of numbers that jobs have added, from the indexes alone.
SELECT (SELECT COUNT(*) FROM work_queue FORCE INDEX (follow_ups_of_a_job)
         WHERE parent_id IS NOT NULL AND id >= %(first)s AND id < COALESCE(%(until)s, ~0))
       + (SELECT COUNT(*) FROM archived_jobs FORCE INDEX (archived_follow_ups_of_a_job)
           WHERE parent_id IS NOT NULL AND id >= %(first)s AND id < COALESCE(%(until)s, ~0)) AS jobs;
