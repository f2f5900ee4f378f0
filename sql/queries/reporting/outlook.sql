-- name: recent_ends
-- Count the jobs that ended last, by run: since when, and the run's age.
SELECT COALESCE(w.run_id, 0) AS run_id, COUNT(*) AS jobs,
       TIMESTAMPDIFF(MICROSECOND, MIN(e.finished_at), UTC_TIMESTAMP(6)) / 1000000 AS first_end_ago,
       TIMESTAMPDIFF(MICROSECOND, MAX(r.started_at), UTC_TIMESTAMP(6)) / 1000000 AS run_age
  FROM (SELECT incarnation, finished_at
          FROM work_queue FORCE INDEX (finished_jobs)
         WHERE finished_at >= UTC_TIMESTAMP(6) - INTERVAL %(seconds)s SECOND
         ORDER BY finished_at DESC
         LIMIT %(limit)s) e
  LEFT JOIN workers w FORCE INDEX (PRIMARY) ON w.id = e.incarnation
  LEFT JOIN runs r FORCE INDEX (PRIMARY) ON r.id = w.run_id
 GROUP BY COALESCE(w.run_id, 0);
