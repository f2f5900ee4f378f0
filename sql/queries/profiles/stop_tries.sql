-- name: note_stop_failed
-- Count a stop that failed, and say when it is tried again; a stale profile says what may run.
UPDATE profiles
   SET stop_tries = %(tries)s,
       next_stop_at = UTC_TIMESTAMP(6) + INTERVAL %(wait_seconds)s SECOND,
       state_reason = IF(state = 'stale', %(reason)s, state_reason)
 WHERE id = %(id)s;

-- name: forget_stop_tries
-- Forget how often a browser could not be stopped.
UPDATE profiles SET stop_tries = 0, next_stop_at = NULL WHERE id = %(id)s AND stop_tries > 0;
