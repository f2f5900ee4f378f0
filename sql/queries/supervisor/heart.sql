-- name: take_run_lock
-- Hold the run's named lock on this connection; taking it again is harmless.
SELECT GET_LOCK(CONCAT('nightshift.run.', LEFT(SHA2(CONCAT(DATABASE(), ':', %(name)s), 256), 32)),
                %(wait_seconds)s)
       AS locked;
