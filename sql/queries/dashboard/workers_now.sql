-- name: jobs_at_work
-- Read what is shown of the jobs that workers are at.
SELECT id, task, site, attempts, timeout_seconds, status FROM work_queue WHERE id IN %(ids)s;

-- name: claims_of_runs
-- List the jobs that the workers of some runs hold, with the slot of each.
SELECT q.id, q.task, q.site, q.attempts, q.timeout_seconds, q.status, q.irreversible_step,
       w.run_id, w.slot
  FROM work_queue q FORCE INDEX (next_candidates)
  JOIN workers w ON w.id = q.incarnation
 WHERE q.status = 'in_progress' AND w.run_id IN %(run_ids)s;
