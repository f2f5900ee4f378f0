-- name: set_profile_state
-- Move a profile from the state it was read in to another.
UPDATE profiles
   SET state = %(state)s, state_reason = %(reason)s, state_by = %(author)s,
       state_since = UTC_TIMESTAMP(6)
 WHERE id = %(id)s AND state = %(old_state)s;

-- name: add_profile_event
-- Remember something that happened to a profile.
INSERT INTO profile_events (profile_id, account_id, at, event, from_state, to_state, fence, job_id,
                            author, reason, decision, next_check)
VALUES (%(profile_id)s, %(account_id)s, UTC_TIMESTAMP(6), %(event)s, %(from_state)s, %(to_state)s,
        %(fence)s, %(job_id)s, %(author)s, %(reason)s, %(decision)s,
        UTC_TIMESTAMP(6) + INTERVAL %(next_check_seconds)s SECOND);
