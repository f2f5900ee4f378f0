-- name: take_writer
-- Become the writer of the roll-ups, if none is at it, or by force; the fence shuts the former out.
UPDATE rollup_writer
   SET owner = %(owner)s, fence = fence + 1,
       lease_until = UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND
 WHERE id = 1
   AND (owner IS NULL OR owner = %(owner)s OR lease_until < UTC_TIMESTAMP(6) OR %(by_force)s);

-- name: read_writer
-- Read who writes the roll-ups, how far they are, and what time it is.
SELECT *, UTC_TIMESTAMP(6) AS now,
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), lease_until) / 1000000 AS lease_left
  FROM rollup_writer
 WHERE id = 1;

-- name: hold_writer
-- Go on being the writer, if nobody has taken over; the row stays locked until the commit.
UPDATE rollup_writer
   SET lease_until = UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND
 WHERE id = 1 AND owner = %(owner)s AND fence = %(fence)s;

-- name: move_writer
-- Keep how far the roll-ups are.
UPDATE rollup_writer
   SET counted_until = %(counted_until)s, settled_until = %(settled_until)s,
       hours_until = %(hours_until)s, days_until = %(days_until)s
 WHERE id = 1;

-- name: release_writer
-- Let another one write at once.
UPDATE rollup_writer
   SET owner = NULL, lease_until = NULL
 WHERE id = 1 AND owner = %(owner)s AND fence = %(fence)s;

-- name: clear_task_rollups
-- Remove the roll-ups of a stretch of time, which are written anew.
DELETE FROM task_rollups WHERE span = %(span)s AND start >= %(start)s AND start < %(end)s;

-- name: clear_worker_rollups
-- Remove those of the workers.
DELETE FROM worker_rollups WHERE span = %(span)s AND start >= %(start)s AND start < %(end)s;

-- name: add_task_rollup
-- Write one roll-up of a task.
INSERT INTO task_rollups (span, start, task, outcome, attempts, failed, recovered, run_seconds,
                          wait_seconds, durations, waits)
VALUES (%(span)s, %(start)s, %(task)s, %(outcome)s, %(attempts)s, %(failed)s, %(recovered)s,
        %(run_seconds)s, %(wait_seconds)s, %(durations)s, %(waits)s);

-- name: add_worker_rollup
-- Write one roll-up of a worker.
INSERT INTO worker_rollups (span, start, run_id, slot, outcome, attempts, failed, recovered,
                            run_seconds, wait_seconds, durations, waits)
VALUES (%(span)s, %(start)s, %(run_id)s, %(slot)s, %(outcome)s, %(attempts)s, %(failed)s,
        %(recovered)s, %(run_seconds)s, %(wait_seconds)s, %(durations)s, %(waits)s);
