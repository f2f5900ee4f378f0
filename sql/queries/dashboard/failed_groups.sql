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
