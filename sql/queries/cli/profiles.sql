-- name: list_profiles
-- List profiles, those of one account or in one state if named.
SELECT p.*, (SELECT COUNT(*) FROM profile_leases l WHERE l.profile_id = p.id) AS leases
  FROM profiles p
 WHERE (%(account_id)s IS NULL OR p.account_id = %(account_id)s)
   AND (%(state)s IS NULL OR p.state = %(state)s)
 ORDER BY p.id;
