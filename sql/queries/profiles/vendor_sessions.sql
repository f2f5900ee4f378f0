-- name: keep_vendor_session
-- Keep what a vendor has started for whoever holds a profile by this fence.
UPDATE profiles
   SET vendor_session = %(session)s
 WHERE id = %(id)s
   AND EXISTS (SELECT 1 FROM profile_leases l WHERE l.profile_id = %(id)s AND l.fence = %(fence)s);

-- name: vendor_session_is_kept
-- Tell whether that was done, when nobody knows whether it went through.
SELECT p.id
  FROM profiles p
  JOIN profile_leases l ON l.profile_id = p.id AND l.fence = %(fence)s
 WHERE p.id = %(id)s AND p.vendor_session = %(session)s;

-- name: forget_vendor_session
-- Forget a session that is stopped, unless it is another one by now.
UPDATE profiles SET vendor_session = NULL WHERE id = %(id)s AND vendor_session = %(session)s;
