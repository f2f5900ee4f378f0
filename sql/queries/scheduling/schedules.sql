-- name: schedule_columns
-- A schedule as it is shown.
s.name, s.cron, s.timezone, s.if_missed, s.task, s.queue, s.priority, s.is_batched, s.next_at,
       s.is_paused, s.fired_at, s.fired, s.missed, s.set_by, s.set_at, UTC_TIMESTAMP(6) AS now,
       (SELECT COUNT(*) FROM schedule_jobs j WHERE j.schedule = s.name) AS jobs

-- name: add_schedule
-- Keep a new schedule.
INSERT INTO schedules (name, cron, timezone, if_missed, task, queue, priority, is_batched, next_at,
                       set_by, set_at)
VALUES (%(name)s, %(cron)s, %(timezone)s, %(if_missed)s, %(task)s, %(queue)s, %(priority)s,
        %(is_batched)s, %(next_at)s, %(by)s, UTC_TIMESTAMP(6));

-- name: add_schedule_jobs
-- Keep the jobs that a schedule adds each time.
INSERT INTO schedule_jobs (schedule, payload, profile_id, account_id, order_key)
VALUES (%(schedule)s, %(payload)s, %(profile_id)s, %(account_id)s, %(order_key)s);

-- name: all_schedules
-- List all schedules.
SELECT /* include schedule_columns */ FROM schedules s ORDER BY s.name;

-- name: schedule_named
-- Read one schedule.
SELECT /* include schedule_columns */ FROM schedules s WHERE s.name = %(name)s;

-- name: lock_schedule
-- Hold one schedule until it is changed.
SELECT name, cron, timezone, is_paused, UTC_TIMESTAMP(6) AS now
  FROM schedules
 WHERE name = %(name)s
   FOR UPDATE;

-- name: pause_schedule
-- Let a schedule rest.
UPDATE schedules SET is_paused = TRUE WHERE name = %(name)s;

-- name: resume_schedule
-- Let a schedule go on from its next time.
UPDATE schedules SET is_paused = FALSE, next_at = %(next_at)s WHERE name = %(name)s;

-- name: remove_schedule
-- Forget a schedule.
DELETE FROM schedules WHERE name = %(name)s;

-- name: remove_schedule_jobs
-- Forget the jobs that it adds.
DELETE FROM schedule_jobs WHERE schedule = %(name)s;
