-- name: evidence_of_attempts
-- List the attempts that left evidence, in the order they ended, from behind one of them.
SELECT job_id, fence, attempt, finished_at, evidence, evidence_dir, evidence_host
  FROM job_attempts FORCE INDEX (attempts_by_end)
 WHERE finished_at >= UTC_TIMESTAMP(6) - INTERVAL %(seconds)s SECOND
   AND finished_at >= %(since)s
   AND (finished_at > %(since)s OR (job_id, fence) > (%(job_id)s, %(fence)s))
   AND evidence IS NOT NULL
 ORDER BY finished_at, job_id, fence
 LIMIT %(limit)s;
