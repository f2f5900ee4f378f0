-- name: impatient_candidates
-- List ready jobs of busy profiles whose manifest says more than that they wait.
SELECT /* include candidate_columns */
  FROM work_queue q FORCE INDEX (next_candidates)
 WHERE q.status = 'pending' AND q.not_before IS NULL
   AND (q.id %% %(total)s + %(total)s) %% %(total)s = %(slot)s
   AND (q.profile IN %(profiles)s OR q.account IN %(accounts)s)
   AND (JSON_EXTRACT(q.payload, '$.manifest.on_conflict') IS NOT NULL
        OR JSON_EXTRACT(q.payload, '$.manifest.lock_timeout') IS NOT NULL)
   AND NOT EXISTS (SELECT 1 FROM profile_events e
                    WHERE e.job_id = q.id AND e.event = 'profile_lock_conflict'
                      AND e.decision = 'wait' AND e.next_check > UTC_TIMESTAMP(6))
 ORDER BY q.priority, q.id
 LIMIT %(limit)s;
