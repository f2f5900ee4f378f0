-- name: refused_through_proxies
-- Count the attempts that ended between two moments because a site refused them through a proxy.
SELECT (SELECT COUNT(*) FROM job_attempts FORCE INDEX (attempts_by_outcome)
         WHERE outcome = 'blocked' AND finished_at >= %(start)s AND finished_at < %(end)s
           AND used_proxy IS NOT NULL)
       + (SELECT COUNT(*) FROM archived_attempts FORCE INDEX (archived_attempts_by_outcome)
           WHERE outcome = 'blocked' AND finished_at >= %(start)s AND finished_at < %(end)s
             AND used_proxy IS NOT NULL) AS attempts;
