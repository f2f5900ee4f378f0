-- name: any_proxy
-- Tell whether there are proxies at all: then nothing goes out directly that does not say so.
SELECT 1 AS found FROM proxies LIMIT 1;

-- name: unchosen_profiles
-- List the profiles that say neither which proxy is theirs nor that they go out directly.
SELECT id FROM profiles
 WHERE proxy IS NULL AND EXISTS (SELECT 1 FROM proxies)
 ORDER BY id;
