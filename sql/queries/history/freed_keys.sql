-- name: keys_that_keep_from_repeating
-- List which of these jobs in error may have done what cannot be undone and have a dedupe key.
SELECT id, dedupe_key
  FROM work_queue FORCE INDEX (PRIMARY)
 WHERE id IN %(ids)s AND status = 'error' AND dedupe_key IS NOT NULL
   AND (irreversible_step IS NOT NULL OR taken_steps IS NOT NULL)
 ORDER BY id;
