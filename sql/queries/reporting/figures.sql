-- name: rollup_state
-- Read how far the roll-ups are, who writes them, and what time it is.
SELECT *, UTC_TIMESTAMP(6) AS now FROM rollup_writer WHERE id = 1;

-- name: task_rollups_between
-- Read the roll-ups of one span between two moments, of one task or of all.
SELECT start, task, outcome, attempts, failed, recovered, run_seconds, wait_seconds, durations,
       waits
  FROM task_rollups
 WHERE span = %(span)s AND start >= %(start)s AND start < %(end)s
   AND (%(task)s IS NULL OR task = %(task)s)
 ORDER BY start
 LIMIT %(limit)s;

-- name: worker_rollups_between
-- Read the roll-ups of workers of one span between two moments.
SELECT start, run_id, slot, outcome, attempts, failed, recovered, run_seconds, wait_seconds,
       durations, waits
  FROM worker_rollups
 WHERE span = %(span)s AND start >= %(start)s AND start < %(end)s
 ORDER BY start
 LIMIT %(limit)s;
