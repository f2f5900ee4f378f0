-- name: outlook
-- Say what a worker that found nothing may still expect: ready, in progress, next due in seconds.
-- The last two only of its run's own jobs; of those that come due, within some time.
SELECT EXISTS (SELECT 1 FROM work_queue FORCE INDEX (next_candidates)
                WHERE status = 'pending' AND not_before IS NULL /* conditions */) AS has_ready,
       EXISTS (SELECT 1 FROM work_queue FORCE INDEX (next_candidates)
                WHERE status = 'in_progress' /* conditions */
                  AND (%(any_queue)s OR queue IN %(own_queues)s)
                  AND (%(any_task)s OR task IN %(known_tasks)s)) AS has_in_progress,
       (SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), not_before) / 1000000
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NOT NULL
           AND not_before <= UTC_TIMESTAMP(6) + INTERVAL %(seconds)s SECOND /* conditions */
           AND (%(any_queue)s OR queue IN %(own_queues)s)
           AND (%(any_task)s OR task IN %(known_tasks)s)
         ORDER BY not_before
         LIMIT 1) AS next_due_seconds;

-- name: count_own_unfinished
-- Count what is left to do of some queues. No index tells them, so rows are read, up to a number.
SELECT COUNT(*) AS pending, COALESCE(SUM(q.not_before IS NOT NULL), 0) AS waiting,
       (SELECT COUNT(*) FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'in_progress' AND queue IN %(own_queues)s) AS in_progress
  FROM (SELECT id FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending'
         LIMIT %(at_most)s) w
  JOIN work_queue q ON q.id = w.id
 WHERE q.queue IN %(own_queues)s;
