-- name: count_provider_leases
-- Count the leases on profiles of one provider, for its plan's cap.
SELECT COUNT(*) AS leases
  FROM profile_leases l
  JOIN profiles p ON p.id = l.profile_id
 WHERE p.provider = %(provider)s;

-- name: profiles_of_account
-- List the ids of an account's profiles, those that rested longest first.
SELECT id FROM profiles
 WHERE account_id = %(account_id)s
 ORDER BY state = 'available' DESC, state_since, id;

-- name: get_account
-- Read one account.
SELECT * FROM accounts WHERE id = %(id)s;

-- name: proxy_of_profile
-- Read whether a profile's proxy can be used, as a whole and for one site.
SELECT p.name, p.region, p.is_enabled,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), p.cooling_until), 0))
         / 1000000 AS cooling_seconds,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), b.cooling_until), 0))
         / 1000000 AS site_seconds
  FROM proxies p
  LEFT JOIN proxy_blocks b ON b.proxy_id = p.id AND b.site = %(site)s
 WHERE p.name = %(name)s;
