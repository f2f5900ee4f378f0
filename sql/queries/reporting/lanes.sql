-- name: lane_columns
-- Add up what each slot of each run did, by columns of equal width.
SELECT run_id, slot, TIMESTAMPDIFF(MINUTE, %(origin)s, start) DIV %(minutes)s AS place, outcome,
       SUM(attempts) AS attempts, SUM(failed) AS failed, SUM(run_seconds) AS run_seconds
  FROM worker_rollups
 WHERE span = %(span)s AND start >= %(start)s AND start < %(end)s
 GROUP BY run_id, slot, place, outcome
 ORDER BY run_id, slot, place
 LIMIT %(limit)s;
