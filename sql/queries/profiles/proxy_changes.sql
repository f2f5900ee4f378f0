-- name: lock_profiles_of_proxy
-- Read the profiles that name a proxy, and keep others from changing them meanwhile.
SELECT * FROM profiles WHERE proxy = %(proxy)s ORDER BY id FOR UPDATE;

-- name: lock_proxies
-- Read which proxies there are, and keep others from adding or removing any meanwhile.
SELECT name FROM proxies ORDER BY id FOR UPDATE;

-- name: accounts_of_proxy
-- List the accounts that are seen through a proxy.
SELECT a.account_id
  FROM account_proxies a
  JOIN proxies p ON p.id = a.proxy_id
 WHERE p.name = %(proxy)s
 ORDER BY a.account_id;
