-- name: enqueue_one
-- Add one job on whatever connection the caller has; drivers differ, so times come as values.
INSERT INTO work_queue
       (task, queue, batch, dedupe_across_tasks, payload, priority, not_before, max_attempts, timeout_seconds, dedupe_key,
        callback_url, profile_id, account_id, order_key, order_on_failure)
VALUES (%(task)s, %(queue)s, %(batch)s, %(dedupe_across_tasks)s, %(payload)s, %(priority)s, %(not_before)s, %(max_attempts)s,
        %(timeout_seconds)s, %(dedupe_key)s, %(callback_url)s, %(profile_id)s, %(account_id)s,
        %(order_key)s, %(order_on_failure)s);
