-- name: finished_columns
-- What an export has of a finished job: of a failed one also why. Times are texts, which cost the
-- client a fraction of what dates cost.
id, task, status, attempts, payload, result,
       IF(status = 'error',
          (SELECT reason FROM job_attempts
            WHERE job_id = work_queue.id AND job_attempts.fence = work_queue.fence), NULL) AS reason,
       last_error, CAST(created_at AS CHAR) AS created_at, CAST(started_at AS CHAR) AS started_at,
       CAST(finished_at AS CHAR) AS finished_at, used_profile, used_account, used_proxy

-- name: archived_columns
-- The same of a job in the archive.
id, task, status, attempts, payload, result,
       IF(status = 'error',
          (SELECT reason FROM archived_attempts
            WHERE job_id = archived_jobs.id
              AND archived_attempts.archived_at = archived_jobs.archived_at
              AND archived_attempts.fence = archived_jobs.fence), NULL) AS reason,
       last_error, CAST(created_at AS CHAR) AS created_at, CAST(started_at AS CHAR) AS started_at,
       CAST(finished_at AS CHAR) AS finished_at, used_profile, used_account, used_proxy,
       CAST(archived_at AS CHAR) AS archived_at

-- name: naming_columns
-- What names the columns of an export.
id, payload, result, CAST(finished_at AS CHAR) AS finished_at,
       used_profile, used_account, used_proxy

-- name: finished_filter
-- Finished jobs after a cursor.
finished_at >= %(finished_at)s
   AND (finished_at > %(finished_at)s OR id > %(id)s)
   AND finished_at < %(before)s
   AND (%(task)s IS NULL OR task = %(task)s)
   AND status IN %(statuses)s

-- name: finished_jobs
-- Read finished jobs in the order they finished, after a cursor.
SELECT /* include finished_columns */
  FROM work_queue FORCE INDEX (finished_jobs)
 WHERE /* include finished_filter */
 ORDER BY work_queue.finished_at, id
 LIMIT %(limit)s;

-- name: finished_jobs_naming
-- Read of the same jobs only what names columns.
SELECT /* include naming_columns */
  FROM work_queue FORCE INDEX (finished_jobs)
 WHERE /* include finished_filter */
 ORDER BY work_queue.finished_at, id
 LIMIT %(limit)s;

-- name: finished_and_archived_jobs
-- Read the same out of the queue and the archive: in one statement, so that a job which is moved
-- meanwhile is seen once, in one of them; and it keeps its place in the order.
(SELECT /* include finished_columns */, NULL AS archived_at
   FROM work_queue FORCE INDEX (finished_jobs)
  WHERE /* include finished_filter */
  ORDER BY work_queue.finished_at, id
  LIMIT %(limit)s)
UNION ALL
(SELECT /* include archived_columns */
   FROM archived_jobs FORCE INDEX (archived_by_finish)
  WHERE /* include finished_filter */
  ORDER BY archived_jobs.finished_at, id
  LIMIT %(limit)s)
ORDER BY finished_at, id
LIMIT %(limit)s;

-- name: finished_and_archived_jobs_naming
-- Read of the same jobs only what names columns.
(SELECT /* include naming_columns */
   FROM work_queue FORCE INDEX (finished_jobs)
  WHERE /* include finished_filter */
  ORDER BY work_queue.finished_at, id
  LIMIT %(limit)s)
UNION ALL
(SELECT /* include naming_columns */
   FROM archived_jobs FORCE INDEX (archived_by_finish)
  WHERE /* include finished_filter */
  ORDER BY archived_jobs.finished_at, id
  LIMIT %(limit)s)
ORDER BY finished_at, id
LIMIT %(limit)s;
