-- name: begin_deed
-- Keep that somebody is about to do something.
INSERT INTO audit (at, who, role, action, scope, reason, address)
VALUES (UTC_TIMESTAMP(6), %(who)s, %(role)s, %(action)s, %(scope)s, %(reason)s, %(address)s);

-- name: end_deed
-- Keep what came of it.
UPDATE audit SET number = %(number)s, outcome = %(outcome)s WHERE id = %(id)s;

-- name: latest_deeds
-- List what was done last, the newest first, from behind a number.
SELECT * FROM audit WHERE id < COALESCE(%(before)s, ~0) ORDER BY id DESC LIMIT %(limit)s;
