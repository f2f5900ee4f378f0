-- name: finished_jobs
-- Read finished jobs in the order they finished, after a cursor; of failed ones also why.
SELECT id, task, status, attempts, payload, result,
       IF(status = 'error',
          (SELECT reason FROM job_attempts
            WHERE job_id = work_queue.id AND job_attempts.fence = work_queue.fence), NULL) AS reason,
       last_error, created_at, started_at, finished_at,
       used_profile, used_account, used_proxy
  FROM work_queue FORCE INDEX (finished_jobs)
 WHERE finished_at >= %(finished_at)s
   AND (finished_at > %(finished_at)s OR id > %(id)s)
   AND finished_at < %(before)s
   AND (%(task)s IS NULL OR task = %(task)s)
   AND status IN %(statuses)s
 ORDER BY finished_at, id
 LIMIT %(limit)s;

-- name: finished_and_archived_jobs
-- Read the same out of the queue and the archive: in one statement, so that a job which is moved
-- meanwhile is seen once, in one of them; and it keeps its place in the order.
(SELECT id, task, status, attempts, payload, result,
        IF(status = 'error',
           (SELECT reason FROM job_attempts
             WHERE job_id = work_queue.id AND job_attempts.fence = work_queue.fence), NULL)
          AS reason,
        last_error, created_at, started_at, finished_at,
        used_profile, used_account, used_proxy, NULL AS archived_at
   FROM work_queue FORCE INDEX (finished_jobs)
  WHERE finished_at >= %(finished_at)s
    AND (finished_at > %(finished_at)s OR id > %(id)s)
    AND finished_at < %(before)s
    AND (%(task)s IS NULL OR task = %(task)s)
    AND status IN %(statuses)s
  ORDER BY finished_at, id
  LIMIT %(limit)s)
UNION ALL
(SELECT id, task, status, attempts, payload, result,
        IF(status = 'error',
           (SELECT reason FROM archived_attempts
             WHERE job_id = archived_jobs.id
               AND archived_attempts.archived_at = archived_jobs.archived_at
               AND archived_attempts.fence = archived_jobs.fence), NULL) AS reason,
        last_error, created_at, started_at, finished_at,
        used_profile, used_account, used_proxy, archived_at
   FROM archived_jobs FORCE INDEX (archived_by_finish)
  WHERE finished_at >= %(finished_at)s
    AND (finished_at > %(finished_at)s OR id > %(id)s)
    AND finished_at < %(before)s
    AND (%(task)s IS NULL OR task = %(task)s)
    AND status IN %(statuses)s
  ORDER BY finished_at, id
  LIMIT %(limit)s)
ORDER BY finished_at, id
LIMIT %(limit)s;
