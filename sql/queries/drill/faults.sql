-- name: drill_connections
-- List the connections of the pool under test.
SELECT id FROM information_schema.processlist WHERE user = %(user)s;
