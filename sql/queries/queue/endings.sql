-- name: settle_job
-- End a claim and write its history in one transaction, if the claim still holds. History comes
-- first and the job follows it: ROW_COUNT() would lie when the client has vanished in between.
/* include history_of_settlement */;
/* include job_of_settlement */;
/* include group_of_settlement */;
COMMIT;

-- name: settle_and_tell
-- End a claim as above, and put the news of an error into the outbox if somebody wants them.
/* include history_of_settlement */;
/* include job_of_settlement */;
/* include event_of_settlement */;
/* include group_of_settlement */;
COMMIT;

-- name: settle_and_take
-- End a claim as above and take the next job: one commit instead of two. The group comes last: it is
-- the one row that others want as well.
/* include history_of_settlement */;
/* include job_of_settlement */;
/* include claim_of_next */;
/* include group_of_settlement */;
COMMIT;

-- name: history_of_settlement
-- Keep an attempt that ends. An older row of its key is of another life of the table, before a
-- TRUNCATE.
REPLACE INTO job_attempts (job_id, fence, attempt, outcome, worker_id, incarnation, started_at,
                           finished_at, reason, fingerprint, evidence, evidence_dir,
                           evidence_host, last_step, cause, used_profile, used_account,
                           used_proxy, ready_at, has_ended_job)
SELECT id, fence, %(attempt)s, %(outcome)s, worker_id, incarnation, started_at,
       UTC_TIMESTAMP(6), %(reason)s, %(fingerprint)s, %(evidence)s, %(evidence_dir)s,
       %(evidence_host)s, %(last_step)s, %(cause)s,
       used_profile, used_account, COALESCE(%(proxy)s, used_proxy),
       COALESCE(ready_at, created_at), %(status)s = 'error'
  FROM work_queue FORCE INDEX (PRIMARY)
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation <=> %(incarnation)s
   AND status = 'in_progress'
   AND (lease_until < UTC_TIMESTAMP(6) OR NOT %(only_if_expired)s)
   AND (irreversible_step <=> %(step_read)s OR NOT %(as_read)s)
   FOR UPDATE;

-- name: job_of_settlement
-- Write where a job goes, if its attempt has just been kept.
UPDATE work_queue FORCE INDEX (PRIMARY)
   SET status = %(status)s, result = NULL, last_error = %(last_error)s,
       attempts = attempts - %(refund)s,
       -- Further the server lets neither grow; they are compared with small numbers only.
       blocks = LEAST(blocks + %(block)s, 1000000000),
       crashes = LEAST(crashes + %(crash)s, 1000000000),
       fingerprint = COALESCE(%(fingerprint)s, fingerprint),
       not_before = UTC_TIMESTAMP(6) + INTERVAL %(delay_seconds)s SECOND,
       ready_at = UTC_TIMESTAMP(6),
       wait_reason = %(wait_reason)s,
       irreversible_step = %(irreversible_step)s,
       used_proxy = COALESCE(%(proxy)s, used_proxy),
       finished_at = IF(%(status)s = 'pending', NULL, UTC_TIMESTAMP(6)),
       lease_until = NULL
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation <=> %(incarnation)s
   AND status = 'in_progress'
   AND EXISTS (SELECT 1 FROM job_attempts h
                WHERE h.job_id = %(id)s AND h.fence = %(fence)s
                  AND h.started_at <=> work_queue.started_at);

-- name: claim_of_next
-- Take the next job as `claim_job` does, beside the one that is settled.
UPDATE work_queue FORCE INDEX (PRIMARY)
   SET status = 'in_progress', fence = fence + 1, attempts = attempts + 1,
       max_attempts = COALESCE(max_attempts, %(next_task_cap)s),
       worker_id = %(next_slot)s, incarnation = %(next_incarnation)s,
       started_at = UTC_TIMESTAMP(6), finished_at = NULL,
       lease_until = UTC_TIMESTAMP(6) + INTERVAL %(next_lease_seconds)s SECOND,
       used_profile = %(next_profile)s, used_account = %(next_account)s,
       used_proxy = %(next_proxy)s
 WHERE id = %(next_id)s AND status = 'pending' AND not_before IS NULL
   AND changed_at = %(next_version)s;

-- name: event_of_settlement
-- Put the news of a job that has just become an error into the outbox.
INSERT IGNORE INTO outbox (event_id, event, job_id, fence, attempt, task, dedupe_key, reason,
                           happened_at, url, next_try_at, used_profile, used_account, used_proxy)
SELECT UUID(), 'job.error', id, fence, %(attempt)s, task, dedupe_key, %(reason)s,
       finished_at, COALESCE(callback_url, %(default_callback)s), UTC_TIMESTAMP(6),
       used_profile, used_account, used_proxy
  FROM work_queue
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation <=> %(incarnation)s
   AND status = 'error' AND %(status)s = 'error'
   AND COALESCE(callback_url, %(default_callback)s) IS NOT NULL;

-- name: group_of_settlement
-- Count a failure in its group, with the latest one as the group's sample. Of an attempt that was
-- settled by another, such as a sweep, nothing is counted again.
INSERT INTO failure_groups (fingerprint, task, label, first_seen, last_seen, failures,
                            sample_job, sample_attempt, sample_evidence)
SELECT fingerprint, %(task)s, %(label)s, finished_at, finished_at, 1, job_id, attempt, evidence
  FROM job_attempts
 WHERE job_id = %(id)s AND fence = %(fence)s AND outcome = %(outcome)s
   AND fingerprint IS NOT NULL
ON DUPLICATE KEY UPDATE
       last_seen = VALUES(last_seen), failures = failures + 1,
       sample_evidence = COALESCE(VALUES(sample_evidence), sample_evidence),
       sample_job = VALUES(sample_job), sample_attempt = VALUES(sample_attempt);

-- name: end_unclaimable
-- End a pending job that no worker can claim: its counters have no room for one attempt more.
UPDATE work_queue FORCE INDEX (PRIMARY)
   SET status = 'error', last_error = %(reason)s, wait_reason = NULL,
       finished_at = UTC_TIMESTAMP(6)
 WHERE id = %(id)s AND status = 'pending'
   AND (attempts >= 1000000000 OR fence >= 1000000000000000000);

-- name: complete_job
-- Finish a job, if the claim still holds. Its row is the record of the attempt that finished it.
UPDATE work_queue
   SET status = 'done', result = %(result)s, last_error = NULL, wait_reason = NULL,
       irreversible_step = NULL, used_proxy = COALESCE(%(proxy)s, used_proxy),
       finished_at = UTC_TIMESTAMP(6), lease_until = NULL
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation <=> %(incarnation)s
   AND status = 'in_progress';

-- name: complete_with_event
-- Finish a job as above, and put the news of it into the outbox, in one transaction.
/* include complete_job */;
/* include event_of_finish */;
COMMIT;

-- name: event_of_finish
-- Put the news of a job that has just been finished into the outbox.
INSERT IGNORE INTO outbox (event_id, event, job_id, fence, attempt, task, dedupe_key, result,
                           happened_at, url, next_try_at, used_profile, used_account, used_proxy)
SELECT UUID(), 'job.done', id, fence, attempts, task, dedupe_key, result,
       finished_at, COALESCE(callback_url, %(default_callback)s), UTC_TIMESTAMP(6),
       used_profile, used_account, used_proxy
  FROM work_queue
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation <=> %(incarnation)s
   AND status = 'done'
   AND COALESCE(callback_url, %(default_callback)s) IS NOT NULL;

-- name: own_finish
-- Tell whether a job was finished under a fence: our own write may have outlived its connection.
SELECT fence FROM work_queue
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation <=> %(incarnation)s AND status = 'done';

-- name: attempt_exists
-- Tell whether a claim has been settled already: our own write may have outlived its connection.
SELECT outcome FROM job_attempts
 WHERE job_id = %(id)s AND fence = %(fence)s AND incarnation <=> %(incarnation)s;
