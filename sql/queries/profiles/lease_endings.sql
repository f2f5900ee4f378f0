-- name: end_lease
-- End one hold on a profile; none is left when it had ended before.
DELETE FROM profile_leases WHERE profile_id = %(profile_id)s AND fence = %(fence)s;

-- name: end_expired_lease
-- End one hold on a profile, unless it has been renewed meanwhile.
DELETE FROM profile_leases
 WHERE profile_id = %(profile_id)s AND fence = %(fence)s AND expires_at < UTC_TIMESTAMP(6)
   AND NOT is_person;

-- name: leases_of_incarnation
-- List what one incarnation holds.
SELECT profile_id, fence FROM profile_leases WHERE incarnation = %(incarnation)s;
