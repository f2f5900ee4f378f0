-- name: enqueue_job
-- Add one job.
INSERT INTO work_queue
       (task, payload, priority, not_before, max_attempts, timeout_seconds, dedupe_key,
        callback_url)
VALUES (%(task)s, %(payload)s, %(priority)s,
        UTC_TIMESTAMP(6) + INTERVAL %(delay_seconds)s SECOND,
        %(max_attempts)s, %(timeout_seconds)s, %(dedupe_key)s, %(callback_url)s);

-- name: enqueue_jobs
-- Add many jobs in bulk; one whose dedupe key is taken changes nothing.
INSERT INTO work_queue (task, priority, not_before, max_attempts, callback_url, payload, dedupe_key)
VALUES (%(task)s, %(priority)s, %(not_before)s, %(max_attempts)s, %(callback_url)s, ?, ?)
ON DUPLICATE KEY UPDATE dedupe_key = dedupe_key;

-- name: enqueue_routed_jobs
-- Add many jobs of profiles or accounts in bulk, as above.
INSERT INTO work_queue
       (task, priority, not_before, max_attempts, callback_url, payload, dedupe_key, profile_id,
        account_id)
VALUES (%(task)s, %(priority)s, %(not_before)s, %(max_attempts)s, %(callback_url)s, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE dedupe_key = dedupe_key;

-- name: next_level
-- Find the most urgent priority above a given one that has a job ready.
SELECT priority
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'pending' AND not_before IS NULL AND priority > %(above)s
 ORDER BY priority
 LIMIT 1;

-- name: own_candidates
-- List ready ids of one slot's partition after its cursor, from the index alone and without locks.
SELECT q.id, CAST(q.changed_at AS CHAR) AS version, q.fence, q.attempts, q.max_attempts, q.task,
       q.payload, q.timeout_seconds, q.priority, q.blocks, q.crashes, q.forgiven, q.site,
       q.profile AS profile_id, q.account AS account_id, q.callback_url IS NOT NULL AS has_callback,
       q.finished_at IS NOT NULL AND q.last_error IS NULL AS was_done
  FROM (SELECT id
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NULL AND priority = %(priority)s
           AND id > %(after)s AND id <= %(until)s
           AND id %% %(total)s = %(slot)s /* conditions */
         ORDER BY id
         LIMIT %(limit)s) ready
  JOIN work_queue q ON q.id = ready.id
 ORDER BY q.id;

-- name: own_candidates_beyond
-- List ready ids of one slot's partition from a priority on, where there are too many to ask each.
SELECT q.id, CAST(q.changed_at AS CHAR) AS version, q.fence, q.attempts, q.max_attempts, q.task,
       q.payload, q.timeout_seconds, q.priority, q.blocks, q.crashes, q.forgiven, q.site,
       q.profile AS profile_id, q.account AS account_id, q.callback_url IS NOT NULL AS has_callback,
       q.finished_at IS NOT NULL AND q.last_error IS NULL AS was_done
  FROM (SELECT id
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NULL AND priority >= %(priority)s
           AND id %% %(total)s = %(slot)s /* conditions */
         ORDER BY priority, id
         LIMIT %(limit)s) ready
  JOIN work_queue q ON q.id = ready.id
 ORDER BY q.priority, q.id;

-- name: help_candidates
-- List ready ids of other partitions, split among the helpers by the next digit of the id.
SELECT q.id, CAST(q.changed_at AS CHAR) AS version, q.fence, q.attempts, q.max_attempts, q.task,
       q.payload, q.timeout_seconds, q.priority, q.blocks, q.crashes, q.forgiven, q.site,
       q.profile AS profile_id, q.account AS account_id, q.callback_url IS NOT NULL AS has_callback,
       q.finished_at IS NOT NULL AND q.last_error IS NULL AS was_done
  FROM (SELECT id
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NULL AND priority = %(priority)s
           AND id > %(after)s AND id <= %(until)s
           AND id DIV %(total)s %% %(total)s = %(slot)s /* conditions */
         ORDER BY id
         LIMIT %(limit)s) ready
  JOIN work_queue q ON q.id = ready.id
 ORDER BY q.id;

-- name: any_candidates
-- List ready ids whoever they belong to: the last helpings of a run.
SELECT q.id, CAST(q.changed_at AS CHAR) AS version, q.fence, q.attempts, q.max_attempts, q.task,
       q.payload, q.timeout_seconds, q.priority, q.blocks, q.crashes, q.forgiven, q.site,
       q.profile AS profile_id, q.account AS account_id, q.callback_url IS NOT NULL AS has_callback,
       q.finished_at IS NOT NULL AND q.last_error IS NULL AS was_done
  FROM (SELECT id
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NULL AND priority = %(priority)s
           AND id > %(after)s AND id <= %(until)s /* conditions */
         ORDER BY id
         LIMIT %(limit)s) ready
  JOIN work_queue q ON q.id = ready.id
 ORDER BY q.id;

-- name: impatient_candidates
-- List ready jobs of busy profiles whose manifest says more than that they wait.
SELECT q.id, CAST(q.changed_at AS CHAR) AS version, q.fence, q.attempts, q.max_attempts, q.task,
       q.payload, q.timeout_seconds, q.priority, q.blocks, q.crashes, q.forgiven, q.site,
       q.profile AS profile_id, q.account AS account_id, q.callback_url IS NOT NULL AS has_callback,
       q.finished_at IS NOT NULL AND q.last_error IS NULL AS was_done
  FROM work_queue q FORCE INDEX (next_candidates)
 WHERE q.status = 'pending' AND q.not_before IS NULL AND q.id %% %(total)s = %(slot)s
   AND (q.profile IN %(profiles)s OR q.account IN %(accounts)s)
   AND (JSON_EXTRACT(q.payload, '$.manifest.on_conflict') IS NOT NULL
        OR JSON_EXTRACT(q.payload, '$.manifest.lock_timeout') IS NOT NULL)
   AND NOT EXISTS (SELECT 1 FROM profile_events e
                    WHERE e.job_id = q.id AND e.event = 'profile_lock_conflict'
                      AND e.decision = 'wait' AND e.next_check > UTC_TIMESTAMP(6))
 ORDER BY q.priority, q.id
 LIMIT %(limit)s;

-- name: claim_job
-- Take one job by its key, if it is still ready and just as it was read.
UPDATE work_queue
   SET status = 'in_progress', fence = fence + 1, attempts = attempts + 1,
       worker_id = %(slot)s, incarnation = %(incarnation)s,
       started_at = UTC_TIMESTAMP(6), finished_at = NULL,
       lease_until = UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND
 WHERE id = %(id)s AND status = 'pending' AND not_before IS NULL AND changed_at = %(version)s;

-- name: own_claim
-- Tell whether a job is ours: our claim may have outlived its connection.
SELECT fence FROM work_queue
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation = %(incarnation)s
   AND status = 'in_progress';

-- name: renew_claims
-- Extend the leases of living workers' claims, for the whole pool in one statement.
UPDATE work_queue
   SET lease_until = UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND
 WHERE (id, fence) IN %(claims)s AND status = 'in_progress';

-- name: settle_job
-- End a claim and write its history in one transaction, if the claim still holds. History comes
-- first and the job follows it: ROW_COUNT() would lie when the client has vanished in between.
-- An older row of that key is of another life of the table, before a TRUNCATE.
INSERT INTO job_attempts (job_id, fence, attempt, outcome, worker_id, incarnation, started_at,
                          finished_at, reason, fingerprint, evidence, last_step, cause)
SELECT id, fence, %(attempt)s, %(outcome)s, worker_id, incarnation, started_at,
       UTC_TIMESTAMP(6), %(reason)s, %(fingerprint)s, %(evidence)s, %(last_step)s, %(cause)s
  FROM work_queue
 WHERE id = %(id)s AND fence = %(fence)s AND status = 'in_progress'
   AND (lease_until < UTC_TIMESTAMP(6) OR NOT %(only_if_expired)s)
   FOR UPDATE
ON DUPLICATE KEY UPDATE
       attempt = VALUES(attempt), outcome = VALUES(outcome), worker_id = VALUES(worker_id),
       incarnation = VALUES(incarnation), started_at = VALUES(started_at),
       finished_at = VALUES(finished_at), reason = VALUES(reason),
       fingerprint = VALUES(fingerprint), evidence = VALUES(evidence),
       last_step = VALUES(last_step), cause = VALUES(cause);
UPDATE work_queue
   SET status = %(status)s, result = NULL, last_error = %(last_error)s,
       attempts = attempts - %(refund)s,
       blocks = blocks + %(block)s, crashes = crashes + %(crash)s,
       fingerprint = COALESCE(%(fingerprint)s, fingerprint),
       not_before = UTC_TIMESTAMP(6) + INTERVAL %(delay_seconds)s SECOND,
       wait_reason = %(wait_reason)s,
       finished_at = IF(%(status)s = 'pending', NULL, UTC_TIMESTAMP(6)),
       lease_until = NULL
 WHERE id = %(id)s AND fence = %(fence)s AND status = 'in_progress'
   AND EXISTS (SELECT 1 FROM job_attempts h
                WHERE h.job_id = %(id)s AND h.fence = %(fence)s
                  AND h.started_at = work_queue.started_at);
INSERT IGNORE INTO outbox (event_id, event, job_id, fence, attempt, task, dedupe_key, reason,
                           happened_at, url, next_try_at)
SELECT UUID(), 'job.error', id, fence, %(attempt)s, task, dedupe_key, %(reason)s,
       finished_at, COALESCE(callback_url, %(default_callback)s), UTC_TIMESTAMP(6)
  FROM work_queue
 WHERE id = %(id)s AND fence = %(fence)s AND status = 'error' AND %(status)s = 'error'
   AND COALESCE(callback_url, %(default_callback)s) IS NOT NULL;
INSERT INTO failure_groups (fingerprint, task, label, first_seen, last_seen, failures,
                            sample_job, sample_attempt, sample_evidence)
SELECT fingerprint, %(task)s, %(label)s, finished_at, finished_at, 1, job_id, attempt, evidence
  FROM job_attempts
 WHERE job_id = %(id)s AND fence = %(fence)s AND fingerprint IS NOT NULL
ON DUPLICATE KEY UPDATE
       last_seen = VALUES(last_seen), failures = failures + 1,
       sample_evidence = COALESCE(VALUES(sample_evidence), sample_evidence),
       sample_job = VALUES(sample_job), sample_attempt = VALUES(sample_attempt);
COMMIT;

-- name: complete_job
-- Finish a job, if the claim still holds. Its row is the record of the attempt that finished it.
UPDATE work_queue
   SET status = 'done', result = %(result)s, last_error = NULL, wait_reason = NULL,
       finished_at = UTC_TIMESTAMP(6), lease_until = NULL
 WHERE id = %(id)s AND fence = %(fence)s AND status = 'in_progress';

-- name: complete_with_event
-- Finish a job as above, and put the news of it into the outbox, in one transaction.
UPDATE work_queue
   SET status = 'done', result = %(result)s, last_error = NULL, wait_reason = NULL,
       finished_at = UTC_TIMESTAMP(6), lease_until = NULL
 WHERE id = %(id)s AND fence = %(fence)s AND status = 'in_progress';
INSERT IGNORE INTO outbox (event_id, event, job_id, fence, attempt, task, dedupe_key, result,
                           happened_at, url, next_try_at)
SELECT UUID(), 'job.done', id, fence, attempts, task, dedupe_key, result,
       finished_at, COALESCE(callback_url, %(default_callback)s), UTC_TIMESTAMP(6)
  FROM work_queue
 WHERE id = %(id)s AND fence = %(fence)s AND status = 'done'
   AND COALESCE(callback_url, %(default_callback)s) IS NOT NULL;
COMMIT;

-- name: complete_and_claim
-- Finish a job as above and take the next one: both rows in one statement and one commit.
UPDATE work_queue
   SET result = IF(id = %(id)s, %(result)s, NULL),
       last_error = IF(id = %(id)s, NULL, last_error),
       wait_reason = NULL,
       started_at = IF(id = %(id)s, started_at, UTC_TIMESTAMP(6)),
       finished_at = IF(id = %(id)s, UTC_TIMESTAMP(6), NULL),
       lease_until = IF(id = %(id)s, NULL,
                        UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND),
       fence = IF(id = %(id)s, fence, fence + 1),
       attempts = IF(id = %(id)s, attempts, attempts + 1),
       worker_id = %(slot)s, incarnation = %(incarnation)s,
       status = IF(id = %(id)s, 'done', 'in_progress')
 WHERE (id = %(id)s AND fence = %(fence)s AND status = 'in_progress')
    OR (id = %(next_id)s AND id <> %(id)s AND status = 'pending' AND not_before IS NULL
        AND changed_at = %(next_version)s);

-- name: keep_former_finish
-- Put the finish of a job that was put back by hand into its history, before a claim overwrites it.
INSERT IGNORE INTO job_attempts (job_id, fence, attempt, outcome, worker_id, incarnation,
                                 started_at, finished_at)
SELECT id, fence, attempts, 'done', worker_id, incarnation, started_at, finished_at
  FROM work_queue
 WHERE id = %(id)s AND fence = %(fence)s AND status = 'pending' AND finished_at IS NOT NULL;

-- name: own_finish
-- Tell whether a job was finished under a fence: our own write may have outlived its connection.
SELECT fence FROM work_queue WHERE id = %(id)s AND fence = %(fence)s AND status = 'done';

-- name: attempt_exists
-- Tell whether a claim has been settled already: our own write may have outlived its connection.
SELECT outcome FROM job_attempts WHERE job_id = %(id)s AND fence = %(fence)s;

-- name: limit_attempts
-- Give a claimed job its task's cap, so that a sweep that does not know the task keeps to it.
UPDATE work_queue SET max_attempts = %(max_attempts)s
 WHERE id = %(id)s AND fence = %(fence)s AND status = 'in_progress' AND max_attempts IS NULL;

-- name: due_jobs
-- List waiting jobs whose time has come.
SELECT id
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'pending' AND not_before <= UTC_TIMESTAMP(6)
 ORDER BY not_before
 LIMIT %(limit)s;

-- name: make_ready
-- Let waiting jobs whose time has come be claimed.
UPDATE work_queue
   SET not_before = NULL, wait_reason = NULL
 WHERE id IN %(ids)s AND status = 'pending' AND not_before <= UTC_TIMESTAMP(6);

-- name: outlook
-- Say what a worker that found nothing may still expect: ready now, in progress, next due in s.
SELECT EXISTS (SELECT 1 FROM work_queue FORCE INDEX (next_candidates)
                WHERE status = 'pending' AND not_before IS NULL /* conditions */) AS has_ready,
       EXISTS (SELECT 1 FROM work_queue FORCE INDEX (next_candidates)
                WHERE status = 'in_progress') AS has_in_progress,
       (SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), MIN(not_before)) / 1000000
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NOT NULL) AS next_due_seconds;

-- name: own_outlook
-- The same for a worker that keeps strictly to its own partition.
SELECT EXISTS (SELECT 1 FROM work_queue FORCE INDEX (next_candidates)
                WHERE status = 'pending' AND not_before IS NULL
                  AND id %% %(total)s = %(slot)s /* conditions */) AS has_ready,
       EXISTS (SELECT 1 FROM work_queue FORCE INDEX (next_candidates)
                WHERE status = 'in_progress' AND id %% %(total)s = %(slot)s) AS has_in_progress,
       (SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), MIN(not_before)) / 1000000
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NOT NULL
           AND id %% %(total)s = %(slot)s) AS next_due_seconds;

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
       fingerprint, evidence, last_step, cause
  FROM job_attempts
 WHERE job_id = %(id)s
UNION ALL
SELECT id, fence, attempts, 'done', worker_id, incarnation, started_at, finished_at, NULL,
       NULL, NULL, NULL, NULL
  FROM work_queue
 WHERE id = %(id)s AND status = 'done'
 ORDER BY fence;
