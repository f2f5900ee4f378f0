-- name: parent_of_added_jobs
-- Read what follow-ups take over from the job that adds them.
SELECT root_id, depth, queue, priority, batch FROM work_queue WHERE id = %(id)s;

-- name: add_follow_up
-- Add jobs in bulk that a job has asked for; one whose dedupe key is taken changes nothing.
INSERT INTO work_queue
       (task, queue, payload, priority, not_before, max_attempts, timeout_seconds, dedupe_key,
        dedupe_across_tasks,
        callback_url, profile_id, account_id, order_key, order_on_failure, parent_id, root_id, depth,
        batch)
VALUES (%(task)s, %(queue)s, %(payload)s, %(priority)s, %(not_before)s, %(max_attempts)s,
        %(timeout_seconds)s, %(dedupe_key)s, %(dedupe_across_tasks)s, %(callback_url)s, %(profile_id)s, %(account_id)s,
        %(order_key)s, %(order_on_failure)s, %(parent_id)s, %(root_id)s, %(depth)s, %(batch)s)
ON DUPLICATE KEY UPDATE dedupe_key = dedupe_key;

-- name: jobs_added_by
-- List the first jobs that a job has added, out of queue and archive, each with the number of all.
-- Each side is cut before they are joined: a crawl's first job may have added 100,000.
SELECT id, task, status,
       (SELECT COUNT(*) FROM work_queue FORCE INDEX (follow_ups_of_a_job)
         WHERE parent_id = %(id)s)
       + (SELECT COUNT(*) FROM archived_jobs FORCE INDEX (archived_follow_ups_of_a_job)
           WHERE parent_id = %(id)s) AS number
  FROM ((SELECT id, task, status FROM work_queue FORCE INDEX (follow_ups_of_a_job)
          WHERE parent_id = %(id)s ORDER BY id LIMIT %(limit)s)
        UNION ALL
        (SELECT id, task, status FROM archived_jobs FORCE INDEX (archived_follow_ups_of_a_job)
          WHERE parent_id = %(id)s ORDER BY id LIMIT %(limit)s)) added
 ORDER BY id LIMIT %(limit)s;
