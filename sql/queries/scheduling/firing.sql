-- name: due_schedules
-- List the schedules whose time has come.
SELECT name, cron, timezone, if_missed, task, queue, priority, is_batched, next_at,
       UTC_TIMESTAMP(6) AS now
  FROM schedules FORCE INDEX (next_schedules)
 WHERE is_paused = FALSE AND next_at <= UTC_TIMESTAMP(6)
 ORDER BY next_at
 LIMIT 100;

-- name: move_schedule_on
-- Take the time of a schedule that is due, if nobody else has.
UPDATE schedules
   SET next_at = %(following)s, fired = fired + %(fired)s, missed = missed + %(missed)s,
       fired_at = IF(%(fired)s > 0, UTC_TIMESTAMP(6), fired_at)
 WHERE name = %(name)s AND next_at = %(next_at)s AND is_paused = FALSE;

-- name: note_extra_firing
-- Note that a person has had a schedule's jobs added out of turn.
UPDATE schedules SET fired = fired + 1, fired_at = UTC_TIMESTAMP(6) WHERE name = %(name)s;

-- name: add_scheduled_jobs
-- Add the jobs of a schedule, in their order.
INSERT INTO work_queue
       (task, queue, priority, payload, batch, profile_id, account_id, order_key)
SELECT s.task, s.queue, s.priority, j.payload, %(batch)s, j.profile_id, j.account_id, j.order_key
  FROM schedules s
  JOIN schedule_jobs j ON j.schedule = s.name
 WHERE s.name = %(name)s
 ORDER BY j.number;
