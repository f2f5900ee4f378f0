-- name: owners_of_accounts
-- List by which names jobs belong to accounts: the account's own, and those of its profiles.
SELECT id AS account_id, CONCAT('account:', id) AS owner_key FROM accounts
UNION ALL
SELECT account_id, CONCAT('profile:', id) FROM profiles WHERE account_id IS NOT NULL;

-- name: ended_jobs_of_owners
-- Count what ended lately by owner and status, from the index alone.
SELECT owner_key, owner_status AS status, COUNT(*) AS week,
       COALESCE(SUM(owner_ended_at >= %(today)s), 0) AS today, MAX(owner_ended_at) AS last_end
  FROM work_queue FORCE INDEX (ended_jobs_of_an_owner)
 WHERE owner_key IN %(owners)s AND owner_status IN ('done', 'error')
   AND owner_ended_at >= %(week)s
 GROUP BY owner_key, owner_status;

-- name: archived_jobs_of_owners
-- Count the same of what has left the queue.
SELECT owner_key, status, COUNT(*) AS week,
       COALESCE(SUM(finished_at >= %(today)s), 0) AS today, MAX(finished_at) AS last_end
  FROM archived_jobs FORCE INDEX (archived_jobs_of_an_owner)
 WHERE owner_key IN %(owners)s AND status IN ('done', 'error') AND finished_at >= %(week)s
 GROUP BY owner_key, status;

-- name: last_success_of_owner
-- Find when an owner's job was last done, in the queue and in the archive: one look into each index.
SELECT (SELECT MAX(owner_ended_at) FROM work_queue FORCE INDEX (ended_jobs_of_an_owner)
         WHERE owner_key = %(owner)s AND owner_status = 'done') AS in_queue,
       (SELECT MAX(finished_at) FROM archived_jobs FORCE INDEX (archived_jobs_of_an_owner)
         WHERE owner_key = %(owner)s AND status = 'done') AS in_archive;

-- name: blocks_of_owners
-- Count the attempts that ended in a block lately, by owner; only the latest are looked at.
SELECT q.owner_key, COUNT(*) AS week, COALESCE(SUM(h.finished_at >= %(today)s), 0) AS today
  FROM (SELECT job_id, finished_at
          FROM job_attempts FORCE INDEX (attempts_by_outcome)
         WHERE outcome = 'blocked' AND finished_at >= %(week)s
         ORDER BY outcome DESC, finished_at DESC
         LIMIT %(limit)s) h
  STRAIGHT_JOIN work_queue q ON q.id = h.job_id
 WHERE q.owner_key IS NOT NULL
 GROUP BY q.owner_key;

-- name: archived_blocks_of_owners
-- Count the same of what has left the queue.
SELECT q.owner_key, COUNT(*) AS week, COALESCE(SUM(h.finished_at >= %(today)s), 0) AS today
  FROM (SELECT job_id, archived_at, finished_at
          FROM archived_attempts FORCE INDEX (archived_attempts_by_outcome)
         WHERE outcome = 'blocked' AND finished_at >= %(week)s
         ORDER BY outcome DESC, finished_at DESC
         LIMIT %(limit)s) h
  STRAIGHT_JOIN archived_jobs q ON q.id = h.job_id AND q.archived_at = h.archived_at
 WHERE q.owner_key IS NOT NULL
 GROUP BY q.owner_key;

-- name: profile_states_of_accounts
-- Count the profiles of accounts by their states.
SELECT account_id, state, COUNT(*) AS profiles
  FROM profiles
 WHERE account_id IS NOT NULL
 GROUP BY account_id, state;
