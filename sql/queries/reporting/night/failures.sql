-- name: night_groups
-- Group the jobs that failed within a night and stand so still, the largest groups first and muted
-- ones last, with what all of them come to, also beyond the limit. They are found by the index of
-- states, so that the cost grows with the failures and not with the queue.
SELECT d.fingerprint, d.jobs, d.half_done, d.sample_job, d.first_ended, d.last_ended,
       COUNT(*) OVER () AS groups_of_all, SUM(d.jobs) OVER () AS jobs_of_all,
       SUM(g.muted_at IS NULL AND COALESCE(g.first_seen >= %(new_since)s, 0)) OVER () AS new_of_all,
       SUM(g.muted_at IS NOT NULL) OVER () AS muted_of_all,
       SUM(IF(g.muted_at IS NULL, 0, d.jobs)) OVER () AS jobs_muted_of_all,
       LEFT(d.sites, 300) AS sites, COALESCE(g.task, q.task) AS task,
       g.label, h.reason, h.outcome, RIGHT(q.last_error, 2000) AS last_error,
       h.evidence, h.evidence_dir, h.evidence_host, g.muted_at,
       COALESCE(g.first_seen >= %(new_since)s, 0) AS is_new
  FROM (SELECT fingerprint, COUNT(*) AS jobs, MAX(id) AS sample_job,
               COALESCE(SUM(irreversible_step IS NOT NULL), 0) AS half_done,
               MIN(finished_at) AS first_ended, MAX(finished_at) AS last_ended,
               IF(MIN(site) = MAX(site), MIN(site), CONCAT_WS(',', MIN(site), MAX(site))) AS sites
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'error' AND finished_at >= %(start)s AND finished_at < %(end)s
         GROUP BY fingerprint) d
  JOIN work_queue q ON q.id = d.sample_job
  LEFT JOIN job_attempts h ON h.job_id = q.id AND h.fence = q.fence
  LEFT JOIN failure_groups g ON g.fingerprint = d.fingerprint
 ORDER BY g.muted_at IS NOT NULL, d.jobs DESC, d.fingerprint
 LIMIT %(limit)s;
