-- name: count_up_to
-- Count the jobs of each status, and those that wait for a time, each up to a number, from the index.
SELECT 'pending' AS status, COUNT(*) AS jobs
  FROM (SELECT 1 FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' LIMIT %(most)s) p
UNION ALL
SELECT 'in_progress', COUNT(*)
  FROM (SELECT 1 FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'in_progress' LIMIT %(most)s) i
UNION ALL
SELECT 'done', COUNT(*)
  FROM (SELECT 1 FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'done' LIMIT %(most)s) d
UNION ALL
SELECT 'error', COUNT(*)
  FROM (SELECT 1 FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'error' LIMIT %(most)s) e
UNION ALL
SELECT 'waiting', COUNT(*)
  FROM (SELECT 1 FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before > '1970-01-01' LIMIT %(most)s) w;

-- name: done_of_site_since
-- Count the jobs of a site that are done, among the first that ended since a moment.
SELECT COALESCE(SUM(e.status = 'done' AND e.site = %(site)s), 0) AS jobs, COUNT(*) AS seen
  FROM (SELECT status, site FROM work_queue FORCE INDEX (finished_jobs)
         WHERE finished_at >= %(since)s
         ORDER BY finished_at LIMIT %(most)s) e;
