-- name: extend_checkout
-- Let a person keep a profile for longer: from the agreed end, or from now if that has passed.
UPDATE profile_leases
   SET expires_at = GREATEST(expires_at, UTC_TIMESTAMP(6)) + INTERVAL %(seconds)s SECOND,
       heartbeat_at = UTC_TIMESTAMP(6)
 WHERE profile_id = %(profile_id)s AND fence = %(fence)s AND is_person;

-- name: count_overdue_checkouts
-- Count the profiles that a person should have returned.
SELECT COUNT(*) AS checkouts
  FROM profile_leases
 WHERE is_person AND expires_at < UTC_TIMESTAMP(6);
