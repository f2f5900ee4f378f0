-- name: night_results
-- Read how long the results are that were done between two moments, the latest first, and the short
-- ones themselves. Every n-th job is taken, chosen from the index before any row is read.
SELECT q.id, q.task, q.site, q.finished_at, CHAR_LENGTH(q.result) AS size,
       IF(CHAR_LENGTH(q.result) <= %(longest)s, q.result, NULL) AS result
  FROM (SELECT id
          FROM work_queue FORCE INDEX (finished_jobs)
         WHERE finished_at >= %(start)s AND finished_at < %(end)s AND id %% %(every)s = 0
         ORDER BY finished_at DESC
         LIMIT %(limit)s) chosen
  JOIN work_queue q ON q.id = chosen.id
 WHERE q.status = 'done'
UNION ALL
SELECT a.id, a.task, a.site, a.finished_at, CHAR_LENGTH(a.result),
       IF(CHAR_LENGTH(a.result) <= %(longest)s, a.result, NULL)
  FROM (SELECT id, archived_at
          FROM archived_jobs FORCE INDEX (archived_by_finish)
         WHERE finished_at >= %(start)s AND finished_at < %(end)s AND id %% %(every)s = 0
         ORDER BY finished_at DESC
         LIMIT %(limit)s) chosen
  JOIN archived_jobs a ON a.id = chosen.id AND a.archived_at = chosen.archived_at
 WHERE a.status = 'done';
