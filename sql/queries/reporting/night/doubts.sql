-- name: night_results
-- Read how long the results are that were done between two moments, the latest first, and the short
-- ones themselves; every so many'th job, chosen from the index before any row is read.
(SELECT id, task, site, finished_at, CHAR_LENGTH(result) AS size,
        IF(CHAR_LENGTH(result) <= %(longest)s, result, NULL) AS result
   FROM work_queue FORCE INDEX (finished_jobs)
  WHERE finished_at >= %(start)s AND finished_at < %(end)s AND id %% %(every)s = 0
    AND status = 'done'
  ORDER BY finished_at DESC
  LIMIT %(limit)s)
UNION ALL
(SELECT id, task, site, finished_at, CHAR_LENGTH(result),
        IF(CHAR_LENGTH(result) <= %(longest)s, result, NULL)
   FROM archived_jobs FORCE INDEX (archived_by_finish)
  WHERE finished_at >= %(start)s AND finished_at < %(end)s AND id %% %(every)s = 0
    AND status = 'done'
  ORDER BY finished_at DESC
  LIMIT %(limit)s);
