-- name: set_control
-- Ask something of every pool.
INSERT INTO control (name, reason, set_by, set_at)
VALUES (%(name)s, %(reason)s, %(set_by)s, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE reason = VALUES(reason), set_by = VALUES(set_by), set_at = VALUES(set_at);

-- name: clear_control
-- Ask it no longer.
DELETE FROM control WHERE name = %(name)s;

-- name: controls_like
-- List what is asked by names that begin alike.
SELECT name, reason, set_by, set_at FROM control WHERE name LIKE %(pattern)s ORDER BY name;

-- name: get_control
-- Read what is asked, if it is.
SELECT reason, set_by, set_at FROM control WHERE name = %(name)s;
