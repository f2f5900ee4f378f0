-- name: add_to_batch
-- Open a batch, or one that was finished anew: its end will be told again.
INSERT INTO batches (name, callback_url, created_at, created_by)
VALUES (%(name)s, %(callback_url)s, UTC_TIMESTAMP(6), %(by)s)
ON DUPLICATE KEY UPDATE
       additions = additions + 1, finished_at = NULL,
       callback_url = COALESCE(VALUES(callback_url), callback_url);

-- name: note_batch
-- Take note of a batch that jobs name and nobody has opened.
INSERT IGNORE INTO batches (name, created_at, created_by)
VALUES (%(name)s, UTC_TIMESTAMP(6), 'plain SQL');

-- name: unopened_batches
-- List the batches that jobs name and nobody has opened; the names are found by the index alone.
SELECT named.batch AS name
  FROM (SELECT DISTINCT batch FROM work_queue FORCE INDEX (jobs_of_a_batch)
         WHERE batch IS NOT NULL) named
  LEFT JOIN batches b ON b.name = named.batch
 WHERE b.name IS NULL;

-- name: open_batches
-- List the batches that are not finished.
SELECT name, additions FROM batches FORCE INDEX (batches_by_end)
 WHERE finished_at IS NULL
 ORDER BY id
 LIMIT 1000;

-- name: recent_batches
-- List the batches that are not finished, and those that ended within a day.
SELECT name, created_at, finished_at, done, failed, cancelled
  FROM batches
 WHERE finished_at IS NULL OR finished_at > UTC_TIMESTAMP(6) - INTERVAL 1 DAY
 ORDER BY id DESC
 LIMIT %(limit)s;

-- name: window_of_batch
-- Look at the next jobs of a batch: how many, how they stand, the last, the first that is unfinished.
SELECT COUNT(*) AS seen, MAX(id) AS last,
       MIN(IF(status IN ('pending', 'in_progress'), id, NULL)) AS first_unfinished,
       COALESCE(SUM(status IN ('pending', 'in_progress')), 0) AS unfinished,
       COALESCE(SUM(status = 'done'), 0) AS done, COALESCE(SUM(status = 'error'), 0) AS failed
  FROM (SELECT id, status
          FROM work_queue FORCE INDEX (jobs_of_a_batch)
         WHERE batch = %(name)s AND id > %(after)s
         ORDER BY id
         LIMIT %(limit)s) w;

-- name: unfinished_among
-- Tell which of these jobs are not finished.
SELECT id FROM work_queue WHERE id IN %(ids)s AND status IN ('pending', 'in_progress');

-- name: archived_of_batch
-- Count the jobs of a batch that have left the queue; what never finished was cancelled.
SELECT COALESCE(SUM(status = 'done'), 0) AS done, COALESCE(SUM(status = 'error'), 0) AS failed,
       COALESCE(SUM(status IN ('pending', 'in_progress')), 0) AS cancelled
  FROM archived_jobs FORCE INDEX (archived_jobs_of_a_batch)
 WHERE batch = %(name)s;

-- name: finish_batch
-- Note that a batch is finished, if nobody has and nothing was added to it since it was looked at.
UPDATE batches
   SET finished_at = UTC_TIMESTAMP(6), done = %(done)s, failed = %(failed)s,
       cancelled = %(cancelled)s
 WHERE name = %(name)s AND finished_at IS NULL AND additions = %(additions)s;

-- name: event_of_batch
-- Put the news of a batch that has just been finished into the outbox. A batch has no job's number:
-- its own, below zero, keeps its events apart.
INSERT IGNORE INTO outbox (event_id, event, job_id, fence, attempt, task, result, happened_at, url,
                           next_try_at)
SELECT UUID(), 'batch.finished', -id, additions, 0, '',
       JSON_OBJECT('batch', name, 'done', done, 'failed', failed, 'cancelled', cancelled),
       finished_at, COALESCE(callback_url, %(default_callback)s), UTC_TIMESTAMP(6)
  FROM batches
 WHERE name = %(name)s AND additions = %(additions)s
   AND COALESCE(callback_url, %(default_callback)s) IS NOT NULL;
