-- name: stale_profiles
-- List profiles that nobody holds and whose last hold ended without an explanation.
SELECT p.id, TIMESTAMPDIFF(SECOND, p.state_since, UTC_TIMESTAMP(6)) AS stale_seconds
  FROM profiles p
 WHERE p.state = 'stale'
   AND NOT EXISTS (SELECT 1 FROM profile_leases l WHERE l.profile_id = p.id)
 ORDER BY p.state_since
 LIMIT %(limit)s;

-- name: unstopped_profiles
-- List profiles that were set aside after such a hold, and whose browser nobody has stopped since.
SELECT p.id
  FROM profiles p
 WHERE p.state IN ('review_required', 'quarantined', 'disabled')
   AND (%(id)s IS NULL OR p.id = %(id)s)
   AND NOT EXISTS (SELECT 1 FROM profile_leases l WHERE l.profile_id = p.id)
   AND (SELECT e.event
          FROM profile_events e
         WHERE e.profile_id = p.id
           AND e.event IN ('doubted', 'lease_ended', 'leased', 'stopped', 'not_stopped')
         ORDER BY e.id DESC
         LIMIT 1) IN ('doubted', 'lease_ended')
 LIMIT %(limit)s;
