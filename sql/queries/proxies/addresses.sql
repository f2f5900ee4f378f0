-- name: known_proxy_address
-- Read what a proxy of that name was like, whether it is still there or not.
SELECT host, port, region, exit_address FROM proxy_addresses WHERE name = %(name)s FOR UPDATE;

-- name: note_proxy_address
-- Keep what a proxy is like. What sites see of it is not known for another address.
INSERT INTO proxy_addresses (name, host, port, region, noted_at)
VALUES (%(name)s, %(host)s, %(port)s, %(region)s, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE
       exit_address = IF(host = VALUES(host) AND port = VALUES(port), exit_address, NULL),
       host = VALUES(host), port = VALUES(port), region = VALUES(region),
       noted_at = VALUES(noted_at);

-- name: note_exit_address
-- Keep the address that sites see of a proxy.
UPDATE proxy_addresses
   SET exit_address = %(exit_address)s, noted_at = UTC_TIMESTAMP(6)
 WHERE name = %(name)s;
