-- name: stranger_in_stretch
-- Find a ready job within a stretch of ids that is of another queue or an unknown task.
SELECT id
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'pending' AND not_before IS NULL AND priority = %(priority)s
   AND id > %(after)s AND id <= %(until)s
   AND NOT ((%(any_queue)s OR queue IN %(own_queues)s)
            AND (%(any_task)s OR task IN %(known_tasks)s))
 LIMIT 1;
