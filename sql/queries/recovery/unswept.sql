-- name: claims_at_irreversible_steps
-- List the jobs in progress that are at an irreversible step.
SELECT id, task, started_at
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'in_progress' AND irreversible_step IS NOT NULL;
