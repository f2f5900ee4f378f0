-- name: jobs_to_archive
-- List jobs that finished before a moment, oldest first, after a cursor and without locks; what may
-- be half done stays where a person looks for it. The cursor also spares the next look the index entries of what has just been moved away.
SELECT id, finished_at
  FROM work_queue FORCE INDEX (finished_jobs)
 WHERE finished_at >= %(finished_at)s
   AND (finished_at > %(finished_at)s OR id > %(id)s)
   AND finished_at < %(before)s
   AND status IN %(statuses)s AND irreversible_step IS NULL
 ORDER BY finished_at, id
 LIMIT %(limit)s;

-- name: count_jobs_to_archive
-- Count them by status.
SELECT status, COUNT(*) AS jobs
  FROM work_queue FORCE INDEX (finished_jobs)
 WHERE finished_at < %(before)s AND status IN %(statuses)s AND irreversible_step IS NULL
 GROUP BY status;

-- name: archive_jobs
-- Move these jobs and their history to the archive in one transaction, if they still are what they
-- were when their numbers were read. What the first statement has locked and copied, the others
-- move or remove: found again by the moment of this batch.
INSERT INTO archived_jobs (
       id, payload, status, worker_id, attempts, last_error, started_at, finished_at, task,
       priority, not_before, wait_reason, max_attempts, timeout_seconds, fence, incarnation,
       lease_until, result, dedupe_key, callback_url, profile_id, account_id, created_at,
       changed_at, blocks, crashes, forgiven, fingerprint, site, profile, account,
       irreversible_step, taken_steps,
       order_key, order_on_failure, owner_key, ready_at, queue,
       parent_id, root_id, depth, batch, dedupe_across_tasks,
       used_profile, used_account, used_proxy,
       archived_at, archived_by, archive_reason)
SELECT id, payload, status, worker_id, attempts, last_error, started_at, finished_at, task,
       priority, not_before, wait_reason, max_attempts, timeout_seconds, fence, incarnation,
       lease_until, result, dedupe_key, callback_url, profile_id, account_id, created_at,
       changed_at, blocks, crashes, forgiven, fingerprint, site, profile, account,
       irreversible_step, taken_steps,
       order_key, order_on_failure, owner_key, ready_at, queue,
       parent_id, root_id, depth, batch, dedupe_across_tasks,
       used_profile, used_account, used_proxy,
       %(moment)s, %(by)s, %(reason)s
  FROM work_queue FORCE INDEX (PRIMARY)
 WHERE id IN %(ids)s AND status IN %(statuses)s
   AND (irreversible_step IS NULL OR %(half_done)s)
   AND COALESCE(finished_at, created_at) <= %(until)s
   FOR UPDATE;
INSERT INTO archived_attempts (
       job_id, fence, attempt, outcome, worker_id, incarnation, started_at, finished_at, reason,
       fingerprint, evidence, evidence_dir, evidence_host, last_step, cause, ready_at, has_ended_job,
       used_profile, used_account, used_proxy, archived_at)
SELECT h.job_id, h.fence, h.attempt, h.outcome, h.worker_id, h.incarnation, h.started_at,
       h.finished_at, h.reason, h.fingerprint, h.evidence, h.evidence_dir, h.evidence_host,
       h.last_step, h.cause, h.ready_at, h.has_ended_job, h.used_profile, h.used_account, h.used_proxy, %(moment)s
  FROM archived_jobs a
  STRAIGHT_JOIN job_attempts h FORCE INDEX (PRIMARY) ON h.job_id = a.id
 WHERE a.id IN %(ids)s AND a.archived_at = %(moment)s;
DELETE h
  FROM archived_jobs a
  STRAIGHT_JOIN job_attempts h FORCE INDEX (PRIMARY) ON h.job_id = a.id
 WHERE a.id IN %(ids)s AND a.archived_at = %(moment)s;
DELETE q
  FROM archived_jobs a
  STRAIGHT_JOIN work_queue q FORCE INDEX (PRIMARY) ON q.id = a.id
 WHERE a.id IN %(ids)s AND a.archived_at = %(moment)s;
COMMIT;

-- name: get_archived_job
-- Read one archived job whole; the latest of its number.
SELECT * FROM archived_jobs WHERE id = %(id)s ORDER BY archived_at DESC LIMIT 1;

-- name: attempts_of_archived_job
-- Read its history in the order it happened; the attempt that finished it is its own row.
SELECT job_id, fence, attempt, outcome, worker_id, incarnation, started_at, finished_at, reason,
       fingerprint, evidence, evidence_dir, evidence_host, last_step, cause,
       used_profile, used_account, used_proxy
  FROM archived_attempts
 WHERE job_id = %(id)s AND archived_at = %(archived_at)s
UNION ALL
SELECT id, fence, attempts, 'done', worker_id, incarnation, started_at, finished_at, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, used_profile, used_account, used_proxy
  FROM archived_jobs
 WHERE id = %(id)s AND archived_at = %(archived_at)s AND status = 'done'
 ORDER BY fence;

-- name: database_time
-- Ask the database what time it is.
SELECT UTC_TIMESTAMP(6) AS now;
