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

-- name: profiles_to_review
-- List the profiles that wait for a person, those that wait longest first.
SELECT /* include profile_line_columns */
  FROM profiles p FORCE INDEX (profiles_not_available)
 WHERE p.state IN ('review_required', 'quarantined')
 ORDER BY p.state_since
 LIMIT %(limit)s;
