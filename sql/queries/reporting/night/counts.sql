-- name: night_ended
-- Count the jobs of the queue that have an end within a night, from the index alone.
SELECT COUNT(*) AS jobs, COALESCE(SUM(id >= %(first)s), 0) AS added
  FROM work_queue FORCE INDEX (finished_jobs)
 WHERE finished_at >= %(start)s AND finished_at < %(end)s;

-- name: night_put_back
-- Count those that were done and have been put back since: they keep their finish until the next
-- claim. They are looked for among the pending ones.
SELECT COUNT(*) AS jobs, COALESCE(SUM(id >= %(first)s), 0) AS added
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'pending' AND finished_at >= %(start)s AND finished_at < %(end)s;

-- name: night_put_back_by_end
-- Count the same where more jobs are pending than ended.
SELECT COUNT(*) AS jobs, COALESCE(SUM(id >= %(first)s), 0) AS added
  FROM work_queue FORCE INDEX (finished_jobs)
 WHERE status = 'pending' AND finished_at >= %(start)s AND finished_at < %(end)s;

-- name: night_archived
-- Count those that have been archived since, and those that a person has discarded.
SELECT status, archive_reason LIKE 'discarded by %%' AS is_discarded, COUNT(*) AS jobs,
       COALESCE(SUM(id >= %(first)s), 0) AS added
  FROM archived_jobs FORCE INDEX (archived_by_finish)
 WHERE finished_at >= %(start)s AND finished_at < %(end)s
 GROUP BY status, is_discarded;

-- name: night_open
-- Count the jobs that have not ended, from the index alone.
SELECT COALESCE(SUM(status = 'pending'), 0) AS pending,
       COALESCE(SUM(status = 'in_progress'), 0) AS in_progress,
       COALESCE(SUM(status = 'pending' AND not_before IS NOT NULL), 0) AS waiting,
       COALESCE(SUM(id >= %(first)s), 0) AS added
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status IN ('pending', 'in_progress');

-- name: range_of_jobs
-- Tell the first and the last number in the queue.
SELECT MIN(id) AS first, MAX(id) AS last FROM work_queue;

-- name: job_at_or_after
-- Tell when the first job from a number on was added.
SELECT id, created_at FROM work_queue WHERE id >= %(id)s ORDER BY id LIMIT 1;
