-- name: taken_steps_and_one_more
-- An expression: the steps that were taken, and the one that the row is at if that is another.
IF(irreversible_step IS NULL OR irreversible_step = %(step)s COLLATE utf8mb4_bin
          OR COALESCE(LOCATE(CONCAT('\n', irreversible_step, '\n'), taken_steps), 0) > 0,
          taken_steps,
          CONCAT(COALESCE(taken_steps, '\n'), irreversible_step, '\n'))

-- name: begin_irreversible_step
-- Keep that a job is at an irreversible step, if the claim still holds; before it is begun. One that
-- an earlier attempt has taken is not begun. One that the row is still at has been taken then.
UPDATE work_queue
   SET taken_steps = /* include taken_steps_and_one_more */,
       irreversible_step = %(step)s
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation <=> %(incarnation)s
   AND status = 'in_progress'
   AND (%(is_own)s OR COALESCE(LOCATE(CONCAT('\n', %(step)s, '\n'), taken_steps), 0) = 0);

-- name: end_irreversible_step
-- Keep that a job has taken its irreversible step and left it behind, if the claim still holds.
UPDATE work_queue
   SET taken_steps = IF(COALESCE(LOCATE(CONCAT('\n', %(step)s, '\n'), taken_steps), 0) > 0,
                        taken_steps,
                        CONCAT(COALESCE(taken_steps, '\n'), %(step)s, '\n')),
       irreversible_step = NULL
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation <=> %(incarnation)s
   AND status = 'in_progress';

-- name: forget_irreversible_step
-- Keep that nothing came of a job's irreversible step, if the claim still holds.
UPDATE work_queue
   SET irreversible_step = NULL
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation <=> %(incarnation)s
   AND status = 'in_progress';

-- name: irreversible_step_of_claim
-- Read at which irreversible step a claim is, our own write may have outlived its connection; and
-- which ones the job has taken.
SELECT irreversible_step, taken_steps FROM work_queue
 WHERE id = %(id)s AND fence = %(fence)s AND incarnation <=> %(incarnation)s
   AND status = 'in_progress';
