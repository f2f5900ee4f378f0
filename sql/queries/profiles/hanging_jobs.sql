-- name: count_jobs_hanging_on_profile
-- Count the pending jobs that name a profile, or its account and no profile, of as many pending jobs
-- as are looked at.
SELECT COUNT(*) AS looked_at,
       COALESCE(SUM(profile = %(profile)s
                    OR (profile IS NULL AND account = %(account)s)), 0) AS jobs
  FROM (SELECT profile, account
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending'
         LIMIT %(look_at)s) looked_at;

-- name: first_jobs_hanging_on_profile
-- List the first of them.
SELECT id
  FROM (SELECT id, profile, account
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending'
         LIMIT %(look_at)s) looked_at
 WHERE profile = %(profile)s OR (profile IS NULL AND account = %(account)s)
 ORDER BY id
 LIMIT %(limit)s;

-- name: pending_jobs_doubted_in_profile
-- List the pending jobs over which a profile was set aside, because they may be half done there.
SELECT q.id, e.reason
  FROM (SELECT job_id, MAX(id) AS id
          FROM profile_events
         WHERE profile_id = %(profile)s AND job_id IS NOT NULL
           AND event IN ('doubted', 'review_wanted')
         GROUP BY job_id) latest
  JOIN profile_events e ON e.id = latest.id
  JOIN work_queue q ON q.id = latest.job_id
 WHERE q.status = 'pending' AND e.reason LIKE %(half_done)s
 ORDER BY q.id
 LIMIT %(limit)s;

-- name: half_done_jobs_of_profile
-- List the jobs in error that broke off at an irreversible step in a profile, or that name it.
SELECT q.id, q.irreversible_step
  FROM work_queue q FORCE INDEX (next_candidates)
 WHERE q.status = 'error' AND q.irreversible_step IS NOT NULL
   AND (q.profile = %(profile)s
        OR EXISTS (SELECT 1 FROM profile_events e
                    WHERE e.job_id = q.id AND e.event = 'leased'
                      AND e.profile_id = %(profile)s))
 ORDER BY q.id
 LIMIT %(limit)s;
