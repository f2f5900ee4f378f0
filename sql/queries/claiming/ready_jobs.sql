-- name: candidate_columns
-- What a worker has to know of a job before it claims it. The numbers that every job has are one
-- column: reading a column takes the driver as long as all that is done with it. The last two are 0
-- where the job has none of its own; the table takes no 0 there.
q.id, CAST(q.changed_at AS CHAR) AS version, q.task, q.queue, q.payload, q.site,
       CONCAT_WS(' ', q.fence, q.attempts, q.priority, q.depth, q.blocks, q.crashes, q.forgiven,
                 q.callback_url IS NOT NULL,
                 q.finished_at IS NOT NULL AND q.last_error IS NULL,
                 COALESCE(q.max_attempts, 0), COALESCE(q.timeout_seconds, 0)) AS numbers,
       q.profile AS profile_id, q.account AS account_id, q.order_place

-- name: next_level
-- Find the most urgent priority above a given one that has a job ready, with its first and last id.
SELECT level.priority, level.id AS first,
       (SELECT id FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NULL AND priority = level.priority
         ORDER BY id DESC
         LIMIT 1) AS last
  FROM (SELECT priority, id
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NULL AND priority > %(above)s
         ORDER BY priority, id
         LIMIT 1) level;

-- name: own_ids
-- A condition: one slot's partition alone; ids below zero belong to somebody, too.
AND (id %% %(total)s + %(total)s) %% %(total)s = %(slot)s

-- name: helped_ids
-- A condition: one helper's share of all partitions, by the next digit of the id.
AND (id DIV %(total)s %% %(total)s + %(total)s) %% %(total)s = %(slot)s

-- name: ready_stretch
-- List ready jobs of one priority within a stretch of ids, found by the index and without locks, in
-- any order: to sort them, MySQL would keep their payloads in a buffer that a few large ones overflow.
SELECT /* include candidate_columns */
  FROM (SELECT id
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NULL AND priority = %(priority)s
           AND id > %(after)s AND id <= %(until)s /* conditions */
         ORDER BY id
         LIMIT %(limit)s) ready
  JOIN work_queue q ON q.id = ready.id;

-- name: ready_beyond
-- List ready jobs from a priority on, where there are too many priorities to ask for each.
SELECT /* include candidate_columns */
  FROM (SELECT id
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NULL AND priority >= %(priority)s
               /* conditions */
         ORDER BY priority, id
         LIMIT %(limit)s) ready
  JOIN work_queue q ON q.id = ready.id;
