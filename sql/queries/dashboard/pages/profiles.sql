-- name: profile_line_columns
-- What a list shows of a profile and its holder; never its endpoint or its options.
p.id, p.account_id, p.provider, p.proxy, p.region, p.max_active_runs, p.state, p.state_reason,
p.state_by, p.state_since,
(SELECT COUNT(*) FROM profile_leases l WHERE l.profile_id = p.id) AS leases,
(SELECT MAX(holder) FROM profile_leases l WHERE l.profile_id = p.id) AS holder,
(SELECT MAX(is_person) FROM profile_leases l WHERE l.profile_id = p.id) AS has_person,
(SELECT MAX(job_id) FROM profile_leases l WHERE l.profile_id = p.id) AS job_id,
(SELECT MAX(expires_at) FROM profile_leases l WHERE l.profile_id = p.id) AS expires_at

-- name: profiles_by_name
-- List profiles by name, of one state if it is named, from behind a name.
SELECT /* include profile_line_columns */
  FROM profiles p FORCE INDEX (PRIMARY)
 WHERE p.id > %(after)s AND (%(state)s IS NULL OR p.state = %(state)s)
 ORDER BY p.id
 LIMIT %(limit)s;

-- name: profiles_named
-- Read the profiles of these names.
SELECT /* include profile_line_columns */
  FROM profiles p FORCE INDEX (PRIMARY)
 WHERE p.id IN %(ids)s;

-- name: half_done_in_profiles
-- List what may be half done in these profiles: pending jobs over which one was set aside, which are
-- tried again when it is clear, and jobs in error at an irreversible step, which stay so.
(SELECT e.profile_id, q.id, e.reason AS what, TRUE AS is_pending
   FROM (SELECT profile_id, job_id, MAX(id) AS id
           FROM profile_events
          WHERE profile_id IN %(ids)s AND job_id IS NOT NULL
            AND event IN ('doubted', 'review_wanted')
          GROUP BY profile_id, job_id) latest
   JOIN profile_events e ON e.id = latest.id
   JOIN work_queue q ON q.id = latest.job_id
  WHERE q.status = 'pending' AND e.reason LIKE %(half_done)s
  ORDER BY q.id
  LIMIT %(limit)s)
UNION ALL
(SELECT p.id, q.id, q.irreversible_step, FALSE
   FROM work_queue q FORCE INDEX (next_candidates)
   JOIN profiles p FORCE INDEX (PRIMARY) ON p.id IN %(ids)s
  WHERE q.status = 'error' AND q.irreversible_step IS NOT NULL
    AND (q.profile = p.id
         OR EXISTS (SELECT 1 FROM profile_events e
                     WHERE e.job_id = q.id AND e.event = 'leased' AND e.profile_id = p.id))
  ORDER BY q.id
  LIMIT %(limit)s);
