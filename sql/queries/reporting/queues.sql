-- name: ready_by_queue
-- Count the ready jobs of one priority within a stretch of ids, by queue.
SELECT queue, COUNT(*) AS jobs
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'pending' AND not_before IS NULL AND priority = %(priority)s
   AND id > %(after)s AND id <= %(until)s
 GROUP BY queue;

-- name: in_progress_by_queue
-- Count the jobs at work by queue.
SELECT queue, COUNT(*) AS jobs
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'in_progress'
 GROUP BY queue;
