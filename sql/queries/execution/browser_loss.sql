-- name: losses_of_browsers
-- Count how often a job was handed back because its browser elsewhere was lost under it.
SELECT COUNT(*) AS losses FROM job_attempts
 WHERE job_id = %(id)s AND outcome = 'handed_back' AND reason LIKE %(pattern)s;
