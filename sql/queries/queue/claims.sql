-- name: claim_job
-- Take one job by its key, if it is still ready and just as it was read.
UPDATE work_queue
   SET status = 'in_progress', fence = fence + 1, attempts = attempts + 1,
       max_attempts = COALESCE(max_attempts, %(task_cap)s),
       worker_id = %(slot)s, incarnation = %(incarnation)s,
       started_at = UTC_TIMESTAMP(6), finished_at = NULL,
       lease_until = UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND,
       used_profile = %(profile)s, used_account = %(account)s, used_proxy = %(proxy)s
 WHERE id = %(id)s AND status = 'pending' AND not_before IS NULL AND changed_at = %(version)s;

-- name: own_claim
-- Tell whether a job is ours: our claim may have outlived its connection.
SELECT fence FROM work_queue
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation = %(incarnation)s
   AND status = 'in_progress';

-- name: renew_claims
-- Extend the leases of living workers' claims, for the whole pool in one statement. By any other
-- index it would wait for rows that are not its own.
UPDATE work_queue FORCE INDEX (PRIMARY)
   SET lease_until = UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND
 WHERE id IN %(ids)s AND (id, fence, incarnation) IN %(claims)s AND status = 'in_progress';

-- name: finish_and_take
-- Finish a job as above and take the next one: both rows in one statement and one commit. Named, the
-- index need not be chosen, which takes the server as long as a tenth of the statement. Only the job
-- that is finished is in progress; so the status says which row it is, and is written last.
UPDATE work_queue FORCE INDEX (PRIMARY)
   SET result = IF(status = 'in_progress', %(result)s, NULL),
       last_error = IF(status = 'in_progress', NULL, last_error),
       wait_reason = NULL, irreversible_step = NULL,
       started_at = IF(status = 'in_progress', started_at, UTC_TIMESTAMP(6)),
       finished_at = IF(status = 'in_progress', UTC_TIMESTAMP(6), NULL),
       lease_until = IF(status = 'in_progress', NULL,
                        UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND),
       fence = fence + (status = 'pending'), attempts = attempts + (status = 'pending'),
       max_attempts = IF(status = 'in_progress', max_attempts,
                         COALESCE(max_attempts, %(task_cap)s)),
       worker_id = %(slot)s, incarnation = %(incarnation)s,
       used_profile = IF(status = 'in_progress', used_profile, NULL),
       used_account = IF(status = 'in_progress', used_account, NULL),
       used_proxy = IF(status = 'in_progress', COALESCE(%(proxy)s, used_proxy), NULL),
       status = IF(status = 'in_progress', 'done', 'in_progress')
 WHERE id IN (%(id)s, %(next_id)s)
   AND IF(id = %(id)s,
          fence = %(fence)s AND incarnation = %(incarnation)s AND status = 'in_progress',
          status = 'pending' AND not_before IS NULL AND changed_at = %(next_version)s);

-- name: keep_former_finish
-- Put the finish of a job that was put back by hand into its history, before a claim overwrites it.
INSERT IGNORE INTO job_attempts (job_id, fence, attempt, outcome, worker_id, incarnation,
                                 started_at, finished_at, used_profile, used_account, used_proxy)
SELECT id, fence, attempts, 'done', worker_id, incarnation, started_at, finished_at,
       used_profile, used_account, used_proxy
  FROM work_queue
 WHERE id = %(id)s AND fence = %(fence)s AND status = 'pending' AND finished_at IS NOT NULL;

-- name: due_jobs
-- List waiting jobs whose time has come.
SELECT id
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'pending' AND not_before <= UTC_TIMESTAMP(6)
 ORDER BY not_before
 LIMIT %(limit)s;

-- name: make_ready
-- Let waiting jobs whose time has come be claimed.
UPDATE work_queue FORCE INDEX (PRIMARY)
   SET ready_at = GREATEST(not_before, created_at), not_before = NULL, wait_reason = NULL
 WHERE id IN %(ids)s AND status = 'pending' AND not_before <= UTC_TIMESTAMP(6);

-- name: count_by_status
-- Count the jobs of each status, from the index alone.
SELECT status, COUNT(*) AS jobs FROM work_queue GROUP BY status;

-- name: count_unfinished
-- Count what is left to do, from the index alone.
SELECT COALESCE(SUM(status = 'pending'), 0) AS pending,
       COALESCE(SUM(status = 'in_progress'), 0) AS in_progress,
       COALESCE(SUM(status = 'pending' AND not_before IS NOT NULL), 0) AS waiting
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status IN ('pending', 'in_progress');

-- name: get_job
-- Read one job whole.
SELECT * FROM work_queue WHERE id = %(id)s;

-- name: attempts_of_job
-- Read one job's history in the order it happened; the attempt that finished it is its own row.
SELECT job_id, fence, attempt, outcome, worker_id, incarnation, started_at, finished_at, reason,
       fingerprint, evidence, evidence_dir, evidence_host, last_step, cause,
       used_profile, used_account, used_proxy
  FROM job_attempts
 WHERE job_id = %(id)s
UNION ALL
SELECT id, fence, attempts, 'done', worker_id, incarnation, started_at, finished_at, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, used_profile, used_account, used_proxy
  FROM work_queue
 WHERE id = %(id)s AND status = 'done'
 ORDER BY fence;
