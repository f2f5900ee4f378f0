-- name: begin_irreversible_step
-- Keep that a job is at an irreversible step, if the claim still holds; before it is begun.
UPDATE work_queue
   SET irreversible_step = %(step)s
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation <=> %(incarnation)s
   AND status = 'in_progress';

-- name: end_irreversible_step
-- Keep that a job has left its irreversible step behind, if the claim still holds.
UPDATE work_queue
   SET irreversible_step = NULL
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation <=> %(incarnation)s
   AND status = 'in_progress';

-- name: irreversible_step_of_claim
-- Read at which irreversible step a claim is: our own write may have outlived its connection.
SELECT irreversible_step FROM work_queue
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation <=> %(incarnation)s
   AND status = 'in_progress';
