-- name: events_between
-- List what held the pool up between two moments: what ended since, and what goes on.
(SELECT id, kind, name, began_at, ended_at, run_id, detail
   FROM events FORCE INDEX (events_by_end)
  WHERE ended_at >= %(since)s AND began_at < %(until)s
  ORDER BY ended_at DESC
  LIMIT %(limit)s)
UNION ALL
(SELECT id, kind, name, began_at, ended_at, run_id, detail
   FROM events FORCE INDEX (events_by_end)
  WHERE ended_at IS NULL AND began_at < %(until)s
  LIMIT %(limit)s);

-- name: runs_between
-- List the runs that were at work between two moments, by their last heartbeat; the newest first.
SELECT /* include run_columns */
  FROM runs r FORCE INDEX (runs_by_heartbeat)
 WHERE r.heartbeat_at >= %(since)s - INTERVAL %(beat_seconds)s SECOND AND r.started_at < %(until)s
   AND COALESCE(r.ended_at, r.heartbeat_at) >= %(since)s
 ORDER BY r.heartbeat_at DESC
 LIMIT %(limit)s;

-- name: workers_of_runs
-- List the workers of some runs that were at work between two moments, the newest first.
SELECT w.id, w.run_id, w.slot, w.started_at, w.ended_at, w.ending
  FROM workers w FORCE INDEX (workers_of_a_run)
  JOIN runs r FORCE INDEX (PRIMARY) ON r.id = w.run_id
 WHERE w.run_id IN %(run_ids)s AND w.started_at < %(until)s
   AND COALESCE(w.ended_at, r.ended_at, r.heartbeat_at) >= %(since)s
 ORDER BY w.started_at DESC
 LIMIT %(limit)s;
