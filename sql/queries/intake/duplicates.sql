-- name: jobs_of_dedupe_keys
-- Find the jobs of the queue that have these keys: of one task, or of all tasks that share theirs.
SELECT id, status, dedupe_key
  FROM work_queue FORCE INDEX (one_job_per_dedupe_key)
 WHERE dedupe_key IN %(keys)s AND dedupe_scope = %(scope)s;
