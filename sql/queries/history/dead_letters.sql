-- name: failure_groups_now
-- Group the jobs that are in error now. They are found by the index of states, so that the cost
-- grows with the failures and not with the queue.
SELECT d.fingerprint, d.jobs, d.half_done, d.sample_job, COALESCE(g.task, q.task) AS task,
       g.label, h.reason, h.outcome, RIGHT(q.last_error, 2000) AS last_error,
       COALESCE(g.first_seen, d.first_ended) AS first_seen,
       COALESCE(g.last_seen, d.last_ended) AS last_seen,
       h.evidence, h.evidence_dir, h.evidence_host, g.muted_at, g.muted_by, g.mute_reason,
       COALESCE(g.first_seen >= %(new_since)s, 0) AS is_new
  FROM (SELECT fingerprint, COUNT(*) AS jobs, MAX(id) AS sample_job,
               COALESCE(SUM(irreversible_step IS NOT NULL), 0) AS half_done,
               MIN(COALESCE(finished_at, created_at)) AS first_ended,
               MAX(COALESCE(finished_at, created_at)) AS last_ended
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'error' AND COALESCE(finished_at, created_at) >= %(since)s
         GROUP BY fingerprint) d
  JOIN work_queue q ON q.id = d.sample_job
  LEFT JOIN job_attempts h ON h.job_id = q.id AND h.fence = q.fence
  LEFT JOIN failure_groups g ON g.fingerprint = d.fingerprint
 ORDER BY d.jobs DESC, d.fingerprint;

-- name: failure_groups_of_run
-- Group the jobs that ended in error since a run began, the largest groups first; without muted
-- ones. The index of finishes keeps the failures of former nights out of it.
SELECT d.fingerprint, d.jobs, g.label, g.first_seen >= %(new_since)s AS is_new
  FROM (SELECT q.fingerprint, COUNT(*) AS jobs
          FROM runs r
          STRAIGHT_JOIN work_queue q FORCE INDEX (finished_jobs) ON q.finished_at >= r.started_at
         WHERE r.id = %(run_id)s AND q.status = 'error'
         GROUP BY q.fingerprint) d
  JOIN failure_groups g ON g.fingerprint = d.fingerprint
 WHERE g.muted_at IS NULL
 ORDER BY d.jobs DESC, d.fingerprint
 LIMIT %(limit)s;

-- name: failure_groups_like
-- Find groups by the beginning of their fingerprint.
SELECT * FROM failure_groups WHERE fingerprint LIKE %(pattern)s ORDER BY fingerprint LIMIT 5;

-- name: dead_letters_of_group
-- List a group's jobs in error, the newest first.
SELECT q.id, q.task, q.site, q.attempts, q.finished_at, h.reason, h.evidence, h.evidence_dir,
       h.evidence_host, h.last_step, q.irreversible_step
  FROM work_queue q FORCE INDEX (failures_of_a_group)
  LEFT JOIN job_attempts h ON h.job_id = q.id AND h.fence = q.fence
 WHERE q.fingerprint = %(fingerprint)s AND q.status = 'error'
 ORDER BY q.id DESC
 LIMIT %(limit)s;

-- name: count_group
-- Count a group's jobs that were in error by a moment, and those that may be half done.
SELECT COUNT(*) AS jobs, COALESCE(SUM(irreversible_step IS NOT NULL), 0) AS half_done
  FROM work_queue FORCE INDEX (failures_of_a_group)
 WHERE fingerprint = %(fingerprint)s AND status = 'error'
   AND COALESCE(finished_at, created_at) <= %(until)s;

-- name: group_page
-- Read the next numbers of a group's jobs that were in error by a moment, without locks.
SELECT id, irreversible_step IS NULL OR %(half_done)s AS is_meant
  FROM work_queue FORCE INDEX (failures_of_a_group)
 WHERE fingerprint = %(fingerprint)s AND status = 'error' AND id > %(after)s
   AND COALESCE(finished_at, created_at) <= %(until)s
 ORDER BY id
 LIMIT %(limit)s;

-- name: count_filtered
-- Count the jobs in error that a filter means, and those of them that muted groups keep out; and how
-- many of those that are meant may be half done.
SELECT COALESCE(SUM(g.muted_at IS NULL), 0) AS jobs,
       COALESCE(SUM(g.muted_at IS NOT NULL), 0) AS muted,
       COALESCE(SUM(g.muted_at IS NULL AND q.irreversible_step IS NOT NULL), 0) AS half_done
  FROM work_queue q FORCE INDEX (next_candidates)
  LEFT JOIN job_attempts h ON h.job_id = q.id AND h.fence = q.fence
  LEFT JOIN failure_groups g ON g.fingerprint = q.fingerprint
 WHERE q.status = 'error'
   AND COALESCE(q.finished_at, q.created_at) BETWEEN %(since)s AND %(until)s
   AND (%(task)s IS NULL OR q.task = %(task)s)
   AND (%(site)s IS NULL OR q.site = %(site)s)
   AND (%(reason)s IS NULL OR LOWER(COALESCE(h.reason, q.last_error, '')) LIKE %(reason)s);

-- name: filtered_page
-- Read the next numbers of jobs in error and whether a filter means them, without locks.
SELECT q.id,
       g.muted_at IS NULL
       AND COALESCE(q.finished_at, q.created_at) BETWEEN %(since)s AND %(until)s
       AND (%(task)s IS NULL OR q.task = %(task)s)
       AND (%(site)s IS NULL OR q.site = %(site)s)
       AND (%(reason)s IS NULL OR LOWER(COALESCE(h.reason, q.last_error, '')) LIKE %(reason)s)
       AND (q.irreversible_step IS NULL OR %(half_done)s)
         AS is_meant
  FROM (SELECT id
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'error' AND id > %(after)s
         ORDER BY id
         LIMIT %(limit)s) page
  JOIN work_queue q ON q.id = page.id
  LEFT JOIN job_attempts h ON h.job_id = q.id AND h.fence = q.fence
  LEFT JOIN failure_groups g ON g.fingerprint = q.fingerprint
 ORDER BY q.id;

-- name: states_of_jobs
-- Tell the states of these jobs, and at which irreversible step each may be half done.
SELECT id, status, irreversible_step FROM work_queue WHERE id IN %(ids)s;

-- name: retry_dead_letters
-- Put these jobs back to pending with fresh budgets, those that were in error by a moment and still
-- are. The attempts stay counted, so that their evidence keeps its place. What may be half done is
-- left alone, unless the person has said that it may be done again: then so may the steps that
-- were taken.
UPDATE work_queue FORCE INDEX (PRIMARY)
   SET status = 'pending', forgiven = attempts, blocks = 0, crashes = 0, not_before = NULL,
       ready_at = UTC_TIMESTAMP(6), wait_reason = NULL, finished_at = NULL,
       irreversible_step = NULL, taken_steps = IF(%(half_done)s, NULL, taken_steps)
 WHERE id IN %(ids)s AND status = 'error'
   AND (irreversible_step IS NULL OR %(half_done)s)
   AND COALESCE(finished_at, created_at) <= %(until)s;

-- name: repeat_done_jobs
-- Put these done jobs back to pending, to do again all that they did. Their finish stays in the row
-- until the claim that follows has put it into the history.
UPDATE work_queue FORCE INDEX (PRIMARY)
   SET status = 'pending', forgiven = attempts, blocks = 0, crashes = 0, not_before = NULL,
       ready_at = UTC_TIMESTAMP(6), wait_reason = NULL, taken_steps = NULL
 WHERE id IN %(ids)s AND status = 'done' AND finished_at <= %(until)s;

-- name: mute_group
-- Leave a group out of the lists.
UPDATE failure_groups
   SET muted_at = UTC_TIMESTAMP(6), muted_by = %(by)s, mute_reason = %(reason)s
 WHERE fingerprint = %(fingerprint)s;

-- name: unmute_group
-- Show a group in the lists again.
UPDATE failure_groups
   SET muted_at = NULL, muted_by = NULL, mute_reason = NULL
 WHERE fingerprint = %(fingerprint)s AND muted_at IS NOT NULL;
