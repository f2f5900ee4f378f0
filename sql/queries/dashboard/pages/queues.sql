-- name: batches_before
-- List batches, the newest first, from where the page before ended.
SELECT id, name, created_at, created_by, finished_at, done, failed, cancelled
  FROM batches FORCE INDEX (PRIMARY)
 WHERE id < COALESCE(%(before)s, ~0)
 ORDER BY id DESC
 LIMIT %(limit)s;
