-- name: probe_session
-- Read which session this is, and what it was set to.
SELECT CONNECTION_ID() AS id, @@SESSION.time_zone AS time_zone,
       @@SESSION.innodb_lock_wait_timeout AS lock_wait, UTC_TIMESTAMP(6) AS now;

-- name: probe_add
-- Add the row that two connections are tried on.
INSERT INTO named_locks (name, token, owner, boot_id, pid_namespace, pid, pid_started, taken_at,
                         lease_until)
VALUES (%(name)s, '', 'doctor', '', 0, 0, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6));

-- name: probe_claim
-- Take the row, if nobody has.
UPDATE named_locks SET token = %(by)s WHERE name = %(name)s AND token = '';

-- name: probe_script
-- Write the row within a transaction of several statements that are sent at once.
UPDATE named_locks SET pid = pid + 1 WHERE name = %(name)s;
UPDATE named_locks SET pid = pid + 1 WHERE name = %(name)s;
COMMIT;

-- name: probe_read
-- Read the row.
SELECT token, pid FROM named_locks WHERE name = %(name)s;

-- name: probe_remove
-- Remove the row.
DELETE FROM named_locks WHERE name = %(name)s;
