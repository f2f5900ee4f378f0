-- name: discarded_jobs
-- List the next archived jobs that a person has sent there before they were done.
SELECT DISTINCT id
  FROM archived_jobs
 WHERE id > %(after)s AND status <> 'done'
   AND (%(any_id)s OR id IN %(ids)s)
   AND (NOT %(any_id)s OR archive_reason LIKE 'discarded by %%' OR archive_reason LIKE 'cancelled by %%')
   AND (%(task)s IS NULL OR task = %(task)s)
   AND (%(queue)s IS NULL OR queue = %(queue)s)
   AND (%(site)s IS NULL OR site = %(site)s)
   AND (%(profile)s IS NULL OR profile = %(profile)s)
   AND (%(batch)s IS NULL OR batch = %(batch)s)
   AND (%(since)s IS NULL OR archived_at >= %(since)s)
 ORDER BY id
 LIMIT %(limit)s;

-- name: archived_to_bring_back
-- Hold the latest archived job of a number that was not done.
SELECT archived_at FROM archived_jobs
 WHERE id = %(id)s AND status <> 'done'
 ORDER BY archived_at DESC
 LIMIT 1
   FOR UPDATE;

-- name: bring_back_job
-- Put an archived job back into the queue: in error as it was, or pending.
INSERT INTO work_queue (
       id, payload, status, worker_id, attempts, last_error, started_at, finished_at, task,
       priority, not_before, wait_reason, max_attempts, timeout_seconds, fence, incarnation,
       result, dedupe_key, dedupe_across_tasks, callback_url, profile_id, account_id, created_at,
       blocks, crashes, forgiven, fingerprint, irreversible_step, taken_steps, order_key,
       order_on_failure, ready_at, queue, parent_id, root_id, depth, batch, used_profile, used_account, used_proxy)
SELECT id, payload, IF(status = 'error', 'error', 'pending'), worker_id, attempts, last_error,
       started_at, finished_at, task, priority, not_before, wait_reason, max_attempts,
       timeout_seconds, fence, incarnation, result, dedupe_key, dedupe_across_tasks, callback_url,
       profile_id, account_id, created_at, blocks, crashes, forgiven, fingerprint,
       irreversible_step, taken_steps, order_key, order_on_failure, UTC_TIMESTAMP(6), queue, parent_id, root_id,
       depth, batch, used_profile, used_account, used_proxy
  FROM archived_jobs
 WHERE id = %(id)s AND archived_at = %(archived_at)s;

-- name: bring_back_attempts
-- Put its history back with it.
INSERT IGNORE INTO job_attempts (
       job_id, fence, attempt, outcome, worker_id, incarnation, started_at, finished_at, reason,
       fingerprint, evidence, evidence_dir, evidence_host, last_step, cause, ready_at,
       has_ended_job, used_profile, used_account, used_proxy)
SELECT job_id, fence, attempt, outcome, worker_id, incarnation, started_at, finished_at, reason,
       fingerprint, evidence, evidence_dir, evidence_host, last_step, cause, ready_at,
       has_ended_job, used_profile, used_account, used_proxy
  FROM archived_attempts
 WHERE job_id = %(id)s AND archived_at = %(archived_at)s;

-- name: forget_archived_attempts
-- Remove from the archive the history that was put back.
DELETE FROM archived_attempts WHERE job_id = %(id)s AND archived_at = %(archived_at)s;

-- name: forget_archived_job
-- Remove from the archive the job that was put back.
DELETE FROM archived_jobs WHERE id = %(id)s AND archived_at = %(archived_at)s;
