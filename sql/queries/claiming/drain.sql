-- name: outlook
-- Say what a worker that found nothing may still expect: ready, in progress, next due in seconds.
SELECT EXISTS (SELECT 1 FROM work_queue FORCE INDEX (next_candidates)
                WHERE status = 'pending' AND not_before IS NULL /* conditions */) AS has_ready,
       EXISTS (SELECT 1 FROM work_queue FORCE INDEX (next_candidates)
                WHERE status = 'in_progress' /* conditions */) AS has_in_progress,
       (SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), not_before) / 1000000
          FROM work_queue FORCE INDEX (next_candidates)
         WHERE status = 'pending' AND not_before IS NOT NULL /* conditions */
         ORDER BY not_before
         LIMIT 1) AS next_due_seconds;
