-- name: drill_run_of
-- Read the run of one launcher.
SELECT id, boot_id, ended_at FROM runs WHERE pid = %(pid)s AND pid_started = %(pid_started)s;

-- name: set_boot_of_run
-- Have a run look as if its machine had been started at another time.
UPDATE runs SET boot_id = %(boot_id)s WHERE id = %(run_id)s;

-- name: sweeps_of_run
-- List the jobs that were swept because a run was believed to be dead.
SELECT job_id FROM job_attempts WHERE outcome = 'swept' AND reason LIKE %(ending)s;
