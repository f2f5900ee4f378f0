-- name: count_proxy_block
-- Count that a site refused what came through a proxy.
UPDATE proxies SET blocks = blocks + 1, blocked_at = UTC_TIMESTAMP(6) WHERE id = %(id)s;

-- name: add_proxy_block
-- Let a proxy cool down for one site.
INSERT INTO proxy_blocks (proxy_id, site, blocked_at, cooling_until, reason)
VALUES (%(proxy_id)s, %(site)s, UTC_TIMESTAMP(6),
        UTC_TIMESTAMP(6) + INTERVAL %(seconds)s SECOND, %(reason)s)
ON DUPLICATE KEY UPDATE
       blocked_at = VALUES(blocked_at), reason = VALUES(reason),
       cooling_until = GREATEST(cooling_until, VALUES(cooling_until));

-- name: forget_old_proxy_blocks
-- Forget blocks that were over long ago, a few at a time.
DELETE FROM proxy_blocks
 WHERE cooling_until < UTC_TIMESTAMP(6) - INTERVAL %(seconds)s SECOND
 LIMIT %(limit)s;

-- name: cooling_sites
-- List the sites that one proxy, or any, is left alone for now, and for how long.
SELECT proxy_id, site, reason,
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), cooling_until) / 1000000 AS cooling_seconds
  FROM proxy_blocks FORCE INDEX (blocks_by_end)
 WHERE cooling_until > UTC_TIMESTAMP(6)
   AND (%(proxy_id)s IS NULL OR proxy_id = %(proxy_id)s)
 ORDER BY proxy_id, site;

-- name: cooling_routes
-- List who cannot reach which site now: profiles and accounts whose own proxy is left alone for it,
-- and, without a name, all others where no proxy is left for it.
SELECT 'profile' AS kind, f.id AS owner, p.name AS proxy, b.site,
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), b.cooling_until) / 1000000 AS cooling_seconds
  FROM proxy_blocks b
  JOIN proxies p ON p.id = b.proxy_id
  JOIN profiles f ON f.proxy = p.name
 WHERE b.cooling_until > UTC_TIMESTAMP(6)
UNION ALL
SELECT 'account', a.account_id, p.name, b.site,
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), b.cooling_until) / 1000000
  FROM proxy_blocks b
  JOIN proxies p ON p.id = b.proxy_id
  JOIN account_proxies a ON a.proxy_id = p.id
 WHERE b.cooling_until > UTC_TIMESTAMP(6) AND p.is_enabled
UNION ALL
SELECT 'any', NULL, NULL, b.site,
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), MIN(b.cooling_until)) / 1000000
  FROM proxy_blocks b
  JOIN proxies p ON p.id = b.proxy_id
 WHERE b.cooling_until > UTC_TIMESTAMP(6)
   AND p.is_enabled AND (p.cooling_until IS NULL OR p.cooling_until <= UTC_TIMESTAMP(6))
 GROUP BY b.site
HAVING COUNT(*) >= (SELECT COUNT(*) FROM proxies u
                     WHERE u.is_enabled
                       AND (u.cooling_until IS NULL OR u.cooling_until <= UTC_TIMESTAMP(6)));
