-- name: scope_of_run
-- Read which queues a run works and which tasks it has loaded; its pulse names some of them.
SELECT queues, tasks, pulse FROM runs WHERE id = %(run_id)s;

-- name: of_own_queues
-- A condition: leave out jobs of queues that this run does not work.
AND queue IN %(own_queues)s

-- name: of_known_tasks
-- A condition: leave out jobs of tasks that this run has not loaded.
AND task IN %(known_tasks)s
