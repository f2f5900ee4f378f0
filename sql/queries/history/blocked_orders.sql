-- name: places_of_ordered_accounts
-- List the ordered accounts, their choice after a failure, and each of their profiles, if any.
SELECT a.id AS account_id, a.on_failure, p.id AS profile_id
  FROM accounts a
  LEFT JOIN profiles p ON p.account_id = a.id
 WHERE a.is_ordered;

-- name: failed_firsts_of_orders
-- Find the first failed job of each order key, and of each of these places; the oldest come first.
SELECT f.order_place, q.id, q.order_on_failure, q.irreversible_step, q.finished_at, h.reason
  FROM (SELECT order_place, MIN(id) AS id
          FROM work_queue FORCE INDEX (next_in_order)
         WHERE order_place LIKE 'failed:key:%%' OR order_place IN %(places)s
         GROUP BY order_place
         ORDER BY id
         LIMIT %(limit)s) f
  JOIN work_queue q ON q.id = f.id
  LEFT JOIN job_attempts h ON h.job_id = q.id AND h.fence = q.fence
 ORDER BY q.id;

-- name: count_jobs_behind
-- Count the pending jobs at some places of an order that come after a job.
SELECT COUNT(*) AS jobs
  FROM work_queue FORCE INDEX (next_in_order)
 WHERE order_place IN %(places)s AND id > %(id)s AND status = 'pending';
