-- name: ids_of_slots
-- A condition: the partitions of some slots alone.
AND (id %% %(total)s + %(total)s) %% %(total)s IN %(slots)s

-- name: ready_groups
-- Count the ready jobs of one priority within a stretch of ids, by what can hold them back.
SELECT site, task, account, profile, order_place, queue, MAX(id) AS last_id, COUNT(*) AS jobs
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'pending' AND not_before IS NULL AND priority = %(priority)s
   AND id > %(after)s AND id <= %(until)s /* conditions */
 GROUP BY site, task, account, profile, order_place, queue;
