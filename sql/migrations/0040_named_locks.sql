-- Locks by name that hold on every member of a cluster: who has each one, and until when unless it
-- is taken again. `launcher.py migrate` makes this table before its first step, too.
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
