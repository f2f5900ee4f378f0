-- name: job_line_columns
-- What a list shows of a job.
q.id, q.task, q.queue, q.batch, q.parent_id, q.status, q.site, q.priority, q.attempts, q.payload, q.created_at, q.started_at,
       q.finished_at, q.not_before, q.wait_reason, q.worker_id, q.fingerprint, q.dedupe_key,
       q.order_key, q.callback_url, q.irreversible_step, RIGHT(q.last_error, 2000) AS last_error

-- name: job_line_filter
-- What a list may ask of its jobs; NULL asks nothing.
(%(task)s IS NULL OR q.task = %(task)s) AND (%(site)s IS NULL OR q.site = %(site)s)
   AND (%(text)s IS NULL OR q.payload LIKE %(text)s)
   AND (%(queue)s IS NULL OR q.queue = %(queue)s) AND (%(batch)s IS NULL OR q.batch = %(batch)s)

-- name: newest_jobs
-- List jobs the newest first, those that are meant.
SELECT /* include job_line_columns */
  FROM (SELECT id FROM work_queue FORCE INDEX (PRIMARY)
         WHERE id < COALESCE(%(before)s, ~0)
         ORDER BY id DESC LIMIT %(window)s) w
  JOIN work_queue q ON q.id = w.id
 WHERE /* include job_line_filter */
 ORDER BY q.id DESC
 LIMIT %(limit)s;

-- name: newest_jobs_reach
-- Tell how far those reach; nothing when they are all there are.
SELECT id FROM work_queue FORCE INDEX (PRIMARY)
 WHERE id < COALESCE(%(before)s, ~0)
 ORDER BY id DESC
 LIMIT %(skip)s, 1;

-- name: jobs_in_status
-- List jobs of a status that few are in, the newest first, those that are meant.
SELECT /* include job_line_columns */
  FROM (SELECT id FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = %(status)s AND id < COALESCE(%(before)s, ~0)
         ORDER BY id DESC LIMIT %(window)s) w
  JOIN work_queue q ON q.id = w.id
 WHERE /* include job_line_filter */
 ORDER BY q.id DESC
 LIMIT %(limit)s;

-- name: jobs_in_status_reach
-- Tell how far those reach; nothing when they are all there are.
SELECT id FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = %(status)s AND id < COALESCE(%(before)s, ~0)
 ORDER BY id DESC
 LIMIT %(skip)s, 1;

-- name: jobs_of_group
-- List jobs in error of a group, the newest first, those that are meant.
SELECT /* include job_line_columns */
  FROM (SELECT id FROM work_queue FORCE INDEX (failures_of_a_group)
         WHERE fingerprint = %(group)s AND status = 'error' AND id < COALESCE(%(before)s, ~0)
         ORDER BY id DESC LIMIT %(window)s) w
  JOIN work_queue q ON q.id = w.id
 WHERE /* include job_line_filter */
 ORDER BY q.id DESC
 LIMIT %(limit)s;

-- name: jobs_of_group_reach
-- Tell how far those reach; nothing when they are all there are.
SELECT id FROM work_queue FORCE INDEX (failures_of_a_group)
 WHERE fingerprint = %(group)s AND status = 'error' AND id < COALESCE(%(before)s, ~0)
 ORDER BY id DESC
 LIMIT %(skip)s, 1;

-- name: job_line_state
-- What a list of one batch or one job's follow-ups may ask of the state; NULL asks nothing.
(%(of_status)s IS NULL OR q.status = %(of_status)s)
   AND (%(waits)s IS NULL OR (q.not_before IS NOT NULL) = %(waits)s)

-- name: jobs_of_batch
-- List jobs of a batch, the newest first, those that are meant.
SELECT /* include job_line_columns */
  FROM (SELECT id FROM work_queue FORCE INDEX (jobs_of_a_batch)
         WHERE batch = %(batch)s AND id < COALESCE(%(before)s, ~0)
         ORDER BY id DESC LIMIT %(window)s) w
  JOIN work_queue q ON q.id = w.id
 WHERE /* include job_line_filter */
   AND /* include job_line_state */
 ORDER BY q.id DESC
 LIMIT %(limit)s;

-- name: jobs_of_batch_reach
-- Tell how far those reach; nothing when they are all there are.
SELECT id FROM work_queue FORCE INDEX (jobs_of_a_batch)
 WHERE batch = %(batch)s AND id < COALESCE(%(before)s, ~0)
 ORDER BY id DESC
 LIMIT %(skip)s, 1;

-- name: jobs_of_parent
-- List jobs that one job has added, the newest first, those that are meant.
SELECT /* include job_line_columns */
  FROM (SELECT id FROM work_queue FORCE INDEX (follow_ups_of_a_job)
         WHERE parent_id = %(parent)s AND id < COALESCE(%(before)s, ~0)
         ORDER BY id DESC LIMIT %(window)s) w
  JOIN work_queue q ON q.id = w.id
 WHERE /* include job_line_filter */
   AND /* include job_line_state */
 ORDER BY q.id DESC
 LIMIT %(limit)s;

-- name: jobs_of_parent_reach
-- Tell how far those reach; nothing when they are all there are.
SELECT id FROM work_queue FORCE INDEX (follow_ups_of_a_job)
 WHERE parent_id = %(parent)s AND id < COALESCE(%(before)s, ~0)
 ORDER BY id DESC
 LIMIT %(skip)s, 1;

-- name: ready_jobs_in_order
-- List jobs that can be claimed, in the order they are, those that are meant.
SELECT /* include job_line_columns */
  FROM (SELECT id, priority FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NULL
           AND (priority > %(priority)s OR (priority = %(priority)s AND id > %(id)s))
         ORDER BY priority, id LIMIT %(window)s) w
  JOIN work_queue q ON q.id = w.id
 WHERE /* include job_line_filter */
 ORDER BY q.priority, q.id
 LIMIT %(limit)s;

-- name: ready_jobs_in_order_reach
-- Tell how far those reach; nothing when they are all there are.
SELECT id, priority FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'pending' AND not_before IS NULL
   AND (priority > %(priority)s OR (priority = %(priority)s AND id > %(id)s))
 ORDER BY priority, id
 LIMIT %(skip)s, 1;

-- name: waiting_jobs_in_order
-- List jobs that wait for a time, the next due first, those that are meant.
SELECT /* include job_line_columns */
  FROM (SELECT id, not_before FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before >= %(moment)s
           AND (not_before > %(moment)s OR id > %(id)s)
         ORDER BY not_before, priority, id LIMIT %(window)s) w
  JOIN work_queue q ON q.id = w.id
 WHERE /* include job_line_filter */
 ORDER BY q.not_before, q.id
 LIMIT %(limit)s;

-- name: waiting_jobs_in_order_reach
-- Tell how far those reach; nothing when they are all there are.
SELECT id, not_before FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'pending' AND not_before >= %(moment)s
   AND (not_before > %(moment)s OR id > %(id)s)
 ORDER BY not_before, priority, id
 LIMIT %(skip)s, 1;

-- name: done_jobs
-- List jobs that are done, the last finished first, those that are meant.
SELECT /* include job_line_columns */
  FROM (SELECT id, finished_at FROM work_queue FORCE INDEX (finished_jobs)
         WHERE finished_at <= %(moment)s
           AND (finished_at < %(moment)s OR id < %(id)s)
         ORDER BY finished_at DESC, id DESC LIMIT %(window)s) w
  JOIN work_queue q ON q.id = w.id
 WHERE /* include job_line_filter */
   AND q.status = 'done'
 ORDER BY q.finished_at DESC, q.id DESC
 LIMIT %(limit)s;

-- name: done_jobs_reach
-- Tell how far those reach; nothing when they are all there are.
SELECT id, finished_at FROM work_queue FORCE INDEX (finished_jobs)
 WHERE finished_at <= %(moment)s
   AND (finished_at < %(moment)s OR id < %(id)s)
 ORDER BY finished_at DESC, id DESC
 LIMIT %(skip)s, 1;

-- name: jobs_named
-- Find jobs by number, by dedupe key or by the key of their order.
(SELECT /* include job_line_columns */ FROM work_queue q WHERE q.id = %(id)s)
UNION ALL
(SELECT /* include job_line_columns */ FROM work_queue q WHERE q.dedupe_key = %(key)s)
UNION ALL
(SELECT /* include job_line_columns */ FROM work_queue q FORCE INDEX (next_in_order)
  WHERE q.order_place = %(place)s ORDER BY q.id LIMIT 20);
