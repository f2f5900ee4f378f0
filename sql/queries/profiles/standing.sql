-- name: profiles_elsewhere
-- List the free local profiles of other hosts, and those of no host yet that were in use before.
SELECT id, account_id, provider, folder, host, host_id, fence
  FROM profiles
 WHERE provider = 'local' AND state = 'available'
   AND (host <> %(host)s OR (host = %(host)s AND host_id <> %(host_id)s)
        OR (host IS NULL AND fence > 0));
