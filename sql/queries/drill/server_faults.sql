-- name: drill_connections
-- List the connections of the pool under test.
SELECT id FROM information_schema.processlist WHERE user = %(user)s;

-- name: drill_statements
-- List the connections of the pool under test that are in a statement.
SELECT id FROM information_schema.processlist WHERE user = %(user)s AND command IN ('Query', 'Execute');

-- name: drill_jobs_in_progress
-- List jobs that are being done now.
SELECT id FROM work_queue WHERE status = 'in_progress' LIMIT %(limit)s;

-- name: lock_drill_job
-- Lock a job that is being done, until the transaction ends.
SELECT id FROM work_queue WHERE id = %(id)s AND status = 'in_progress' FOR UPDATE;
