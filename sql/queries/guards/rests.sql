-- name: rest_breaker
-- Open a closed breaker for a while, for all tasks: what it is about cannot be had.
UPDATE breakers
   SET state = 'open', openings = 1, failures = 0, failing = NULL, opened_at = UTC_TIMESTAMP(6),
       reason = %(reason)s, until = UTC_TIMESTAMP(6) + INTERVAL %(seconds)s SECOND
 WHERE name = %(name)s AND state = 'closed' AND held IS NULL;
