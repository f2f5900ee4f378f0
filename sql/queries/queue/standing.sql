-- name: standing_of_claim
-- Read whose a job is. Locked, so that a proxy which sends reads to replicas asks the primary.
SELECT fence, incarnation, status FROM work_queue WHERE id = %(id)s FOR UPDATE;
