-- name: first_conflict
-- Tell for how many seconds a job has been waiting for its profile since it last ran.
SELECT TIMESTAMPDIFF(MICROSECOND, MIN(at), UTC_TIMESTAMP(6)) / 1000000 AS seconds
  FROM profile_events
 WHERE job_id = %(job_id)s AND event = 'profile_lock_conflict'
   AND at > COALESCE((SELECT started_at FROM work_queue WHERE id = %(job_id)s), '2000-01-01');

-- name: note_wait
-- Say on a pending job what it waits for, once, and let it wait for a time if one is given.
UPDATE work_queue
   SET wait_reason = %(reason)s,
       not_before = UTC_TIMESTAMP(6) + INTERVAL %(delay_seconds)s SECOND
 WHERE id = %(id)s AND status = 'pending' AND not_before IS NULL
   AND (wait_reason IS NULL OR wait_reason <> %(reason)s OR %(delay_seconds)s IS NOT NULL);
