-- name: first_rollup
-- Tell when the first roll-up of a span begins, since a moment.
SELECT start FROM task_rollups
 WHERE span = %(span)s AND start >= %(start)s
 ORDER BY start
 LIMIT 1;

-- name: task_rollups_of
-- Read the roll-ups of tasks that make up a wider one.
SELECT * FROM task_rollups WHERE span = %(span)s AND start >= %(start)s AND start < %(end)s;

-- name: worker_rollups_of
-- Read those of workers.
SELECT * FROM worker_rollups WHERE span = %(span)s AND start >= %(start)s AND start < %(end)s;

-- name: forget_task_rollups
-- Remove old roll-ups of tasks.
DELETE FROM task_rollups
 WHERE span = %(span)s AND start < %(before)s
 ORDER BY start
 LIMIT %(at_most)s;

-- name: forget_worker_rollups
-- Remove old roll-ups of workers.
DELETE FROM worker_rollups
 WHERE span = %(span)s AND start < %(before)s
 ORDER BY start
 LIMIT %(at_most)s;
