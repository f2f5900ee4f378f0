-- name: candidate_columns
-- What a worker has to know of a job before it claims it.
q.id, CAST(q.changed_at AS CHAR) AS version, q.fence, q.attempts, q.max_attempts, q.task,
       q.payload, q.timeout_seconds, q.priority, q.blocks, q.crashes, q.forgiven, q.site,
       q.profile AS profile_id, q.account AS account_id, q.callback_url IS NOT NULL AS has_callback,
       q.finished_at IS NOT NULL AND q.last_error IS NULL AS was_done

-- name: next_level
-- Find the most urgent priority above a given one that has a job ready.
SELECT priority
  FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'pending' AND not_before IS NULL AND priority > %(above)s
 ORDER BY priority
 LIMIT 1;

-- name: own_candidates
-- List ready ids of one slot's partition after its cursor, from the index alone and without locks.
SELECT /* include candidate_columns */
  FROM (SELECT id
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NULL AND priority = %(priority)s
           AND id > %(after)s AND id <= %(until)s
           AND id %% %(total)s = %(slot)s /* conditions */
         ORDER BY id
         LIMIT %(limit)s) ready
  JOIN work_queue q ON q.id = ready.id
 ORDER BY q.id;

-- name: own_candidates_beyond
-- List ready ids of one slot's partition from a priority on, where there are too many to ask each.
SELECT /* include candidate_columns */
  FROM (SELECT id
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NULL AND priority >= %(priority)s
           AND id %% %(total)s = %(slot)s /* conditions */
         ORDER BY priority, id
         LIMIT %(limit)s) ready
  JOIN work_queue q ON q.id = ready.id
 ORDER BY q.priority, q.id;

-- name: help_candidates
-- List ready ids of other partitions, split among the helpers by the next digit of the id.
SELECT /* include candidate_columns */
  FROM (SELECT id
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NULL AND priority = %(priority)s
           AND id > %(after)s AND id <= %(until)s
           AND id DIV %(total)s %% %(total)s = %(slot)s /* conditions */
         ORDER BY id
         LIMIT %(limit)s) ready
  JOIN work_queue q ON q.id = ready.id
 ORDER BY q.id;

-- name: any_candidates
-- List ready ids whoever they belong to: the last helpings of a run.
SELECT /* include candidate_columns */
  FROM (SELECT id
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NULL AND priority = %(priority)s
           AND id > %(after)s AND id <= %(until)s /* conditions */
         ORDER BY id
         LIMIT %(limit)s) ready
  JOIN work_queue q ON q.id = ready.id
 ORDER BY q.id;

-- name: impatient_candidates
-- List ready jobs of busy profiles whose manifest says more than that they wait.
SELECT /* include candidate_columns */
  FROM work_queue q FORCE INDEX (next_candidates)
 WHERE q.status = 'pending' AND q.not_before IS NULL AND q.id %% %(total)s = %(slot)s
   AND (q.profile IN %(profiles)s OR q.account IN %(accounts)s)
   AND (JSON_EXTRACT(q.payload, '$.manifest.on_conflict') IS NOT NULL
        OR JSON_EXTRACT(q.payload, '$.manifest.lock_timeout') IS NOT NULL)
   AND NOT EXISTS (SELECT 1 FROM profile_events e
                    WHERE e.job_id = q.id AND e.event = 'profile_lock_conflict'
                      AND e.decision = 'wait' AND e.next_check > UTC_TIMESTAMP(6))
 ORDER BY q.priority, q.id
 LIMIT %(limit)s;
