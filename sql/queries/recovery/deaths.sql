-- name: claims_of_incarnation
-- List what one incarnation holds; it is gone, and so should its claims be.
SELECT /* include claim_columns */
  FROM work_queue q
 WHERE status = 'in_progress' AND incarnation = %(incarnation)s;
