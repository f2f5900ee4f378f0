-- name: ordered_places
-- List where jobs of ordered accounts have their place: the account's, and those of its profiles.
SELECT id AS account_id, on_failure, CONCAT('account:', id) AS place
  FROM accounts
 WHERE is_ordered
UNION ALL
SELECT a.id, a.on_failure, CONCAT('profile:', p.id)
  FROM accounts a
  JOIN profiles p ON p.account_id = a.id
 WHERE a.is_ordered;

-- name: ordered_places_of_owner
-- List the same for the one account that a job belongs to, by its account or its profile.
SELECT a.id AS account_id, a.on_failure, CONCAT('profile:', p.id) AS place
  FROM accounts a
  LEFT JOIN profiles p ON p.account_id = a.id
 WHERE a.is_ordered
   AND a.id = COALESCE(%(account)s, (SELECT account_id FROM profiles WHERE id = %(profile)s));

-- name: first_in_order
-- A condition: leave out jobs that come behind another of their order, or behind one that failed
-- and is waited for. The first job of an order is one look into the index.
AND (order_place IS NULL
     OR NOT (order_place LIKE 'key:%%' OR order_place IN %(ordered_places)s)
     OR (id = (SELECT e.id
                 FROM work_queue e FORCE INDEX (next_in_order)
                WHERE e.order_place = work_queue.order_place
                ORDER BY e.order_place, e.id
                LIMIT 1)
         AND (order_place IN %(going_on_places)s
              OR COALESCE((SELECT f.id > work_queue.id
                                  OR (f.order_key IS NOT NULL AND f.order_on_failure <=> 'stop')
                             FROM work_queue f FORCE INDEX (next_in_order)
                            WHERE f.order_place = CONCAT('failed:', work_queue.order_place)
                            ORDER BY f.order_place, f.id
                            LIMIT 1), TRUE))))

-- name: take_turn
-- Let nobody else claim in this order until this claim is decided.
INSERT INTO turns (name, job_id, taken_at) VALUES (%(name)s, %(job_id)s, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE job_id = VALUES(job_id), taken_at = VALUES(taken_at);

-- name: first_at_place
-- Find the first job at a place of an order: one entry of the index, if it is asked for by id alone.
SELECT id, status, order_on_failure, irreversible_step,
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), not_before) / 1000000 AS due_seconds
  FROM work_queue FORCE INDEX (next_in_order)
 WHERE order_place = %(place)s
 ORDER BY id
 LIMIT 1;

-- name: failed_places
-- List which of these places have a job that failed and that others may wait for.
SELECT DISTINCT order_place
  FROM work_queue FORCE INDEX (next_in_order)
 WHERE order_place IN %(places)s;

-- name: running_in_order
-- Find a job of an order that is in progress.
SELECT id FROM work_queue FORCE INDEX (next_candidates)
 WHERE status = 'in_progress' AND order_place IN %(places)s AND id <> %(id)s
 LIMIT 1;

-- name: candidate_by_id
-- Read a job as a candidate, if it is ready.
SELECT /* include candidate_columns */
  FROM work_queue q
 WHERE q.id = %(id)s AND q.status = 'pending' AND q.not_before IS NULL;

-- name: forget_turns
-- Remove the rows of orders that had no claim for a day: they keep nothing.
DELETE FROM turns WHERE taken_at < UTC_TIMESTAMP(6) - INTERVAL 1 DAY LIMIT 1000;
