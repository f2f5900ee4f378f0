-- name: add_proxy
-- Add one proxy.
INSERT INTO proxies (name, scheme, host, port, username, password, region, added_at)
VALUES (%(name)s, %(scheme)s, %(host)s, %(port)s, %(username)s, %(password)s, %(region)s,
        UTC_TIMESTAMP(6));

-- name: read_proxies
-- List all proxies with how long they cool down still; the passwords stay where they are.
SELECT p.id, p.name, p.scheme, p.host, p.port, p.username IS NOT NULL AS has_login, p.region,
       p.is_enabled, p.disabled_reason, p.blocks, p.blocked_at, p.failures, p.cooling_reason,
       GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), p.cooling_until), 0))
         / 1000000 AS cooling_seconds,
       p.used_at, p.added_at, p.tested_at, p.test_ms, p.test_problem,
       (SELECT COUNT(*) FROM account_proxies a WHERE a.proxy_id = p.id) AS accounts
  FROM proxies p
 ORDER BY p.name;

-- name: connect_proxies
-- Read proxies with their credentials, for whoever connects to them.
SELECT id, name, scheme, host, port, username, password, region
  FROM proxies
 ORDER BY name;

-- name: switch_proxy
-- Enable a proxy, which also ends its cooling down, or disable it with a reason.
UPDATE proxies
   SET is_enabled = %(is_enabled)s, disabled_reason = %(reason)s,
       cooling_until = IF(%(is_enabled)s, NULL, cooling_until),
       failures = IF(%(is_enabled)s, 0, failures)
 WHERE name = %(name)s;

-- name: change_proxy
-- Give a proxy another address or login; what it failed at was the former one's doing.
UPDATE proxies
   SET scheme = %(scheme)s, host = %(host)s, port = %(port)s, username = %(username)s,
       password = %(password)s, region = %(region)s,
       failures = 0, cooling_until = NULL, cooling_reason = NULL,
       tested_at = NULL, test_ms = NULL, test_problem = NULL
 WHERE name = %(name)s;

-- name: lock_proxy
-- Read where a proxy is, and keep others from changing it meanwhile.
SELECT host, port, region FROM proxies WHERE name = %(name)s FOR UPDATE;

-- name: remove_proxy
-- Remove a proxy; its accounts get another one when they are next at work.
DELETE FROM proxies WHERE name = %(name)s;

-- name: proxy_named
-- Tell whether there is a proxy of that name.
SELECT id FROM proxies WHERE name = %(name)s;

-- name: record_proxy_test
-- Keep how the last test of a proxy went.
UPDATE proxies
   SET tested_at = UTC_TIMESTAMP(6), test_ms = %(took_ms)s, test_problem = %(problem)s
 WHERE id = %(id)s;

-- name: forget_proxy_blocks
-- Let a proxy be used for every site again.
DELETE b FROM proxy_blocks b JOIN proxies p ON p.id = b.proxy_id WHERE p.name = %(name)s;
