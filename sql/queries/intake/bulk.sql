-- name: enqueue_jobs
-- Add many jobs in bulk; one whose dedupe key is taken changes nothing.
INSERT INTO work_queue (task, priority, not_before, max_attempts, callback_url, payload, dedupe_key)
VALUES (%(task)s, %(priority)s, %(not_before)s, %(max_attempts)s, %(callback_url)s, ?, ?)
ON DUPLICATE KEY UPDATE dedupe_key = dedupe_key;

-- name: enqueue_routed_jobs
-- Add many jobs of profiles, accounts or orders in bulk, as above.
INSERT INTO work_queue
       (task, priority, not_before, max_attempts, callback_url, order_on_failure, payload,
        dedupe_key, profile_id, account_id, order_key)
VALUES (%(task)s, %(priority)s, %(not_before)s, %(max_attempts)s, %(callback_url)s,
        %(order_on_failure)s, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE dedupe_key = dedupe_key;
