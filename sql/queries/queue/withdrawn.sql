-- name: standing_of_jobs
-- Read how jobs stand that are being worked on.
SELECT id, fence, status FROM work_queue FORCE INDEX (PRIMARY) WHERE id IN %(ids)s;

-- name: fences_of_archived_jobs
-- Read the last fences of jobs that have left the queue.
SELECT id, MAX(fence) AS fence FROM archived_jobs WHERE id IN %(ids)s GROUP BY id;
