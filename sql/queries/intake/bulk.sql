-- name: enqueue_plain_jobs
-- Add many jobs in bulk that say nothing but their payload; one whose dedupe key is taken changes
-- nothing.
INSERT INTO work_queue (task, payload, dedupe_key)
VALUES (%(task)s, ?, ?)
ON DUPLICATE KEY UPDATE dedupe_key = dedupe_key;

-- name: enqueue_jobs
-- Add many jobs in bulk; one whose dedupe key is taken changes nothing.
INSERT INTO work_queue (task, queue, batch, dedupe_across_tasks, priority, not_before, max_attempts, callback_url, payload,
                        dedupe_key)
VALUES (%(task)s, %(queue)s, %(batch)s, %(dedupe_across_tasks)s, %(priority)s, %(not_before)s, %(max_attempts)s, %(callback_url)s, ?, ?)
ON DUPLICATE KEY UPDATE dedupe_key = dedupe_key;

-- name: enqueue_routed_jobs
-- Add many jobs of profiles, accounts or orders in bulk, as above.
INSERT INTO work_queue
       (task, queue, batch, dedupe_across_tasks, priority, not_before, max_attempts, callback_url, order_on_failure, payload,
        dedupe_key, profile_id, account_id, order_key)
VALUES (%(task)s, %(queue)s, %(batch)s, %(dedupe_across_tasks)s, %(priority)s, %(not_before)s, %(max_attempts)s, %(callback_url)s,
        %(order_on_failure)s, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE dedupe_key = dedupe_key;

-- name: id_step
-- Tell by how much one id of this server differs from the next: a cluster's nodes take turns.
SELECT @@SESSION.auto_increment_increment AS step;

-- name: ids_from
-- List the first ids from one on, of those that this server gives.
SELECT id FROM work_queue
 WHERE id >= %(first)s AND (id - %(first)s) %% %(step)s = 0
 ORDER BY id
 LIMIT %(limit)s;
