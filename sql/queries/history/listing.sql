-- name: listed_columns
-- What a list shows of a job.
q.id, q.task, q.queue, q.batch, q.status, q.site, q.profile, q.priority, q.attempts, q.created_at,
       q.started_at, q.finished_at, q.not_before, q.wait_reason, q.worker_id, q.parent_id,
       q.dedupe_key, q.payload, q.irreversible_step

-- name: listed_filter
-- Whether a job is meant; NULL asks nothing.
(%(any_status)s OR q.status IN %(statuses)s)
       AND (%(task)s IS NULL OR q.task = %(task)s)
       AND (%(queue)s IS NULL OR q.queue = %(queue)s)
       AND (%(site)s IS NULL OR q.site = %(site)s)
       AND (%(profile)s IS NULL OR q.profile = %(profile)s)
       AND (%(batch)s IS NULL OR q.batch = %(batch)s)
       AND (%(since)s IS NULL OR q.created_at >= %(since)s)
       AND (%(until)s IS NULL OR q.created_at <= %(until)s) AS is_meant

-- name: listed_by_id_newest
-- Read the next jobs down from an id.
SELECT /* include listed_columns */, /* include listed_filter */
  FROM work_queue q FORCE INDEX (PRIMARY)
 WHERE q.id < %(after)s
 ORDER BY q.id DESC
 LIMIT %(window)s;

-- name: listed_by_id_oldest
-- Read the next jobs up from an id.
SELECT /* include listed_columns */, /* include listed_filter */
  FROM work_queue q FORCE INDEX (PRIMARY)
 WHERE q.id > %(after)s
 ORDER BY q.id
 LIMIT %(window)s;

-- name: listed_by_state_newest
-- Read the next jobs down from an id that are in states which few are in.
SELECT /* include listed_columns */, /* include listed_filter */
  FROM (SELECT id FROM work_queue FORCE INDEX (next_candidates)
         WHERE status IN %(statuses)s AND id < %(after)s
         ORDER BY id DESC LIMIT %(window)s) w
  JOIN work_queue q ON q.id = w.id
 ORDER BY q.id DESC;

-- name: listed_by_state_oldest
-- Read the next jobs up from an id that are in states which few are in.
SELECT /* include listed_columns */, /* include listed_filter */
  FROM (SELECT id FROM work_queue FORCE INDEX (next_candidates)
         WHERE status IN %(statuses)s AND id > %(after)s
         ORDER BY id LIMIT %(window)s) w
  JOIN work_queue q ON q.id = w.id
 ORDER BY q.id;

-- name: listed_by_batch_newest
-- Read the next jobs of a batch down from an id.
SELECT /* include listed_columns */, /* include listed_filter */
  FROM work_queue q FORCE INDEX (jobs_of_a_batch)
 WHERE q.batch = %(batch)s AND q.id < %(after)s
 ORDER BY q.id DESC
 LIMIT %(window)s;

-- name: listed_by_batch_oldest
-- Read the next jobs of a batch up from an id.
SELECT /* include listed_columns */, /* include listed_filter */
  FROM work_queue q FORCE INDEX (jobs_of_a_batch)
 WHERE q.batch = %(batch)s AND q.id > %(after)s
 ORDER BY q.id
 LIMIT %(window)s;
