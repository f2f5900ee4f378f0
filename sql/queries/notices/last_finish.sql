-- name: last_finish
-- Tell how long ago a job last finished: was done, or failed for good.
SELECT TIMESTAMPDIFF(MICROSECOND, finished_at, UTC_TIMESTAMP(6)) / 1000000 AS seconds
  FROM work_queue FORCE INDEX (finished_jobs)
 WHERE finished_at IS NOT NULL
 ORDER BY finished_at DESC
 LIMIT 1;
