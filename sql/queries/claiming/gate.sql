-- name: lease_of_claim
-- Find the lease that a claim took with it.
SELECT profile_id, fence, account_id, proxy FROM profile_leases
 WHERE job_id = %(job_id)s AND job_fence = %(job_fence)s AND incarnation = %(incarnation)s;
