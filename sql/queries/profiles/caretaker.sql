-- name: stale_profiles
-- List profiles that nobody holds and whose last hold ended without an explanation, if it is time
-- to check them. A local profile is checked on its own host: only there its browser can be seen.
SELECT p.id
  FROM profiles p
 WHERE p.state = 'stale'
   AND (p.next_stop_at IS NULL OR p.next_stop_at <= UTC_TIMESTAMP(6))
   AND (p.provider <> 'local' OR p.host IS NULL
        OR (p.host = %(host)s AND COALESCE(p.host_id, %(host_id)s) = %(host_id)s))
   AND NOT EXISTS (SELECT 1 FROM profile_leases l WHERE l.profile_id = p.id)
 ORDER BY p.next_stop_at, p.state_since
 LIMIT %(limit)s;

-- name: unstopped_profiles
-- List profiles that were set aside after such a hold, and whose browser nobody has stopped since;
-- of all hosts, or those that this one can see.
SELECT p.id
  FROM profiles p
 WHERE p.state IN ('review_required', 'quarantined', 'disabled')
   AND (%(id)s IS NULL OR p.id = %(id)s)
   AND (NOT %(due_only)s OR p.next_stop_at IS NULL OR p.next_stop_at <= UTC_TIMESTAMP(6))
   AND (%(host)s IS NULL OR p.provider <> 'local' OR p.host IS NULL
        OR (p.host = %(host)s AND COALESCE(p.host_id, %(host_id)s) = %(host_id)s))
   AND NOT EXISTS (SELECT 1 FROM profile_leases l WHERE l.profile_id = p.id)
   AND (SELECT e.event
          FROM profile_events e
         WHERE e.profile_id = p.id
           AND e.event IN ('doubted', 'lease_ended', 'leased', 'cleared', 'stopped', 'not_stopped')
         ORDER BY e.id DESC
         LIMIT 1) IN ('doubted', 'lease_ended', 'not_stopped')
 LIMIT %(limit)s;
