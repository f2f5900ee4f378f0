-- name: take_server_lock
-- Hold a lock of the server on this connection; taking it again is harmless.
SELECT GET_LOCK(CONCAT('nightshift.', %(kind)s, '.',
                       LEFT(SHA2(CONCAT(DATABASE(), %(name)s), 256), 32)), %(wait_seconds)s)
       AS locked;

-- name: release_server_lock
-- Let others have a lock of the server.
SELECT RELEASE_LOCK(CONCAT('nightshift.', %(kind)s, '.',
                           LEFT(SHA2(CONCAT(DATABASE(), %(name)s), 256), 32))) AS released;

-- name: create_named_locks
-- Make the table of locks before there is a schema; the same as its migration.
CREATE TABLE IF NOT EXISTS named_locks (
  name          VARCHAR(191) NOT NULL,
  token         CHAR(32)     NOT NULL COMMENT 'proves the hold',
  owner         VARCHAR(255) NOT NULL COMMENT 'who holds it, for people',
  boot_id       CHAR(36)     NOT NULL,
  pid_namespace BIGINT       NOT NULL,
  pid           INT          NOT NULL,
  pid_started   BIGINT       NOT NULL,
  taken_at      DATETIME(6)  NOT NULL,
  lease_until   DATETIME(6)  NOT NULL,
  PRIMARY KEY (name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- name: add_row_lock
-- Take a lock that nobody has.
INSERT IGNORE INTO named_locks (name, token, owner, boot_id, pid_namespace, pid, pid_started,
                                taken_at, lease_until)
VALUES (%(name)s, %(token)s, %(owner)s, %(boot_id)s, %(pid_namespace)s, %(pid)s, %(pid_started)s,
        UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND);

-- name: take_row_lock
-- Take a lock again, or one whose lease is over, or that of a holder who is known to be dead.
UPDATE named_locks
   SET taken_at = IF(token = %(token)s, taken_at, UTC_TIMESTAMP(6)),
       token = %(token)s, owner = %(owner)s, boot_id = %(boot_id)s,
       pid_namespace = %(pid_namespace)s, pid = %(pid)s, pid_started = %(pid_started)s,
       lease_until = UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND
 WHERE name = %(name)s
   AND (token IN (%(token)s, %(dead_token)s) OR lease_until < UTC_TIMESTAMP(6));

-- name: read_row_lock
-- Read who has a lock.
SELECT *, GREATEST(0, TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), lease_until)) AS left_seconds
  FROM named_locks
 WHERE name = %(name)s;

-- name: release_row_lock
-- Let others have a lock.
DELETE FROM named_locks WHERE name = %(name)s AND token = %(token)s;
