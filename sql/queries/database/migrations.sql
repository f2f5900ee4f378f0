-- name: table_exists
-- Tell whether a table is in the current database.
SELECT 1 AS found FROM information_schema.tables
 WHERE table_schema = DATABASE() AND table_name = %(table)s;

-- name: create_schema_migrations
-- Make the table that remembers which steps have been taken.
CREATE TABLE IF NOT EXISTS schema_migrations (
  version    INT          NOT NULL,
  step       INT          NOT NULL,
  name       VARCHAR(191) NOT NULL,
  checksum   CHAR(64)     NOT NULL,
  applied_at DATETIME(6)  NOT NULL,
  PRIMARY KEY (version, step)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- name: applied_migrations
-- List the steps taken.
SELECT version, step, checksum FROM schema_migrations ORDER BY version, step;

-- name: record_migration
-- Remember a step.
INSERT INTO schema_migrations (version, step, name, checksum, applied_at)
VALUES (%(version)s, %(step)s, %(name)s, %(checksum)s, UTC_TIMESTAMP(6));
