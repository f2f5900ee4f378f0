-- name: next_proxy
-- Hold the proxy whose turn it is, for one site if it is named: blocked there longest ago or never,
-- then blocked anywhere longest ago or never, then used longest ago.
SELECT p.id, p.name, p.scheme, p.host, p.port, p.username, p.password, p.region, p.failures
  FROM proxies p
  LEFT JOIN proxy_blocks b ON b.proxy_id = p.id AND b.site = %(site)s
 WHERE p.is_enabled AND (p.cooling_until IS NULL OR p.cooling_until <= UTC_TIMESTAMP(6))
   AND (b.cooling_until IS NULL OR b.cooling_until <= UTC_TIMESTAMP(6))
   AND (%(region)s IS NULL OR p.region = %(region)s)
 ORDER BY b.blocked_at IS NOT NULL, b.blocked_at, p.blocked_at IS NOT NULL, p.blocked_at,
          p.used_at IS NOT NULL, p.used_at, p.id
 LIMIT 1
   FOR UPDATE;

-- name: proxy_of_account
-- Hold the proxy that an account is seen through, and tell whether it can be used, for one site.
SELECT p.id, p.name, p.scheme, p.host, p.port, p.username, p.password, p.region, p.failures,
       p.is_enabled,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), p.cooling_until), 0))
         / 1000000 AS cooling_seconds,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), b.cooling_until), 0))
         / 1000000 AS site_seconds
  FROM account_proxies a
  JOIN proxies p ON p.id = a.proxy_id
  LEFT JOIN proxy_blocks b ON b.proxy_id = p.id AND b.site = %(site)s
 WHERE a.account_id = %(account_id)s
   FOR UPDATE;

-- name: assign_proxy
-- Give an account a proxy in place of the one it cannot have any more, or its first.
INSERT INTO account_proxies (account_id, proxy_id, since)
VALUES (%(account_id)s, %(proxy_id)s, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE
       since = IF(proxy_id = %(former_id)s, UTC_TIMESTAMP(6), since),
       proxy_id = IF(proxy_id = %(former_id)s, VALUES(proxy_id), proxy_id);

-- name: mark_proxy_used
-- Note that a proxy was chosen just now, so that the next who chooses takes another.
UPDATE proxies SET used_at = UTC_TIMESTAMP(6) WHERE id = %(id)s;

-- name: usable_proxy
-- Read a proxy, if it can be used now.
SELECT id, name, scheme, host, port, username, password, region, failures
  FROM proxies
 WHERE id = %(id)s AND is_enabled
   AND (cooling_until IS NULL OR cooling_until <= UTC_TIMESTAMP(6));

-- name: proxy_hosts
-- List the hosts of all proxies, which are often fewer.
SELECT DISTINCT host FROM proxies;

-- name: note_proxy_failure
-- Let a proxy that cannot be used cool down, twice as long as after its failure before.
UPDATE proxies
   SET cooling_reason = %(reason)s,
       cooling_until = GREATEST(COALESCE(cooling_until, UTC_TIMESTAMP(6)),
                                UTC_TIMESTAMP(6)
                                + INTERVAL LEAST(%(longest)s, %(seconds)s * POW(2, failures)) SECOND),
       failures = LEAST(failures + 1, 20)
 WHERE id = %(id)s AND (cooling_until IS NULL OR cooling_until <= UTC_TIMESTAMP(6));

-- name: note_proxy_success
-- Forget a proxy's failures: it works.
UPDATE proxies SET failures = 0 WHERE id = %(id)s AND failures > 0;

-- name: proxy_supply
-- Count the proxies there are, may be used, cool down and refuse the login, as a whole or for one
-- site if it is named, and when the first that cools down is back.
SELECT COUNT(*) AS proxies, COALESCE(SUM(is_enabled), 0) AS enabled,
       COALESCE(SUM(is_enabled AND until > UTC_TIMESTAMP(6)), 0) AS cooling,
       COALESCE(SUM(is_enabled AND is_refusing), 0) AS refusing,
       GREATEST(0, COALESCE(MIN(IF(is_enabled AND until > UTC_TIMESTAMP(6),
                                   TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), until),
                                   NULL)), 0)) / 1000000 AS wait_seconds
  FROM (SELECT p.is_enabled,
               p.cooling_until > UTC_TIMESTAMP(6)
               AND LOCATE(%(refuses)s, COALESCE(p.cooling_reason, '')) > 0 AS is_refusing,
               GREATEST(COALESCE(p.cooling_until, p.added_at),
                        COALESCE(b.cooling_until, p.added_at)) AS until
          FROM proxies p
          LEFT JOIN proxy_blocks b ON b.proxy_id = p.id AND b.site = %(site)s) supply;

-- name: waiting_accounts
-- List the accounts whose proxy cools down, and for how long.
SELECT a.account_id, p.name,
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), p.cooling_until) / 1000000 AS wait_seconds
  FROM proxies p
  JOIN account_proxies a ON a.proxy_id = p.id
 WHERE p.is_enabled AND p.cooling_until > UTC_TIMESTAMP(6);
