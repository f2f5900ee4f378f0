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

-- name: failure_trends
-- Count the jobs in error by group and by stretch of time, as far back as a moment.
SELECT fingerprint, TIMESTAMPDIFF(SECOND, %(since)s, finished_at) DIV %(seconds)s AS place,
       COUNT(*) AS jobs
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'error' AND finished_at >= %(since)s
 GROUP BY fingerprint, place;

-- name: samples_of_group
-- Find the first, one in the middle and the last of a group's jobs in error, with their evidence.
SELECT s.id, s.id AS job_id, s.fence, s.site, s.finished_at, h.attempt, h.evidence, h.evidence_dir, h.evidence_host, h.reason,
       h.used_profile
  FROM ((SELECT id, finished_at, fence, site FROM work_queue FORCE INDEX (failures_of_a_group)
          WHERE fingerprint = %(fingerprint)s AND status = 'error' ORDER BY id LIMIT 1)
        UNION ALL
        (SELECT id, finished_at, fence, site FROM work_queue FORCE INDEX (failures_of_a_group)
          WHERE fingerprint = %(fingerprint)s AND status = 'error'
          ORDER BY id LIMIT %(middle)s, 1)
        UNION ALL
        (SELECT id, finished_at, fence, site FROM work_queue FORCE INDEX (failures_of_a_group)
          WHERE fingerprint = %(fingerprint)s AND status = 'error' ORDER BY id DESC LIMIT 1)) s
  LEFT JOIN job_attempts h ON h.job_id = s.id AND h.fence = s.fence
 ORDER BY s.id;

-- name: done_of_site_since
-- Count the jobs of a site that are done, among the first that ended since a moment.
SELECT COALESCE(SUM(e.status = 'done' AND e.site = %(site)s), 0) AS jobs, COUNT(*) AS seen
  FROM (SELECT status, site FROM work_queue FORCE INDEX (finished_jobs)
         WHERE finished_at >= %(since)s
         ORDER BY finished_at LIMIT %(most)s) e;
