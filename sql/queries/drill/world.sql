-- name: enqueue_drill_jobs
-- Add jobs of several tasks, in the order given.
INSERT INTO work_queue (task, payload) VALUES (%(task)s, %(payload)s);
