-- One row per invocation of the launcher. Boot, pid namespace, pid and start name its process for
-- good; the machine tells a reboot from another machine.
CREATE TABLE IF NOT EXISTS runs (
  id           BIGINT       NOT NULL AUTO_INCREMENT,
  host         VARCHAR(255) NOT NULL,
  machine_id   VARCHAR(64)  NOT NULL,
  boot_id      CHAR(36)     NOT NULL,
  pid_namespace BIGINT      NOT NULL,
  pid          INT          NOT NULL,
  pid_started  BIGINT       NOT NULL,
  first_slot   INT          NOT NULL,
  workers      INT          NOT NULL,
  total        INT          NOT NULL,
  started_at   DATETIME(6)  NOT NULL,
  heartbeat_at DATETIME(6)  NOT NULL,
  ended_at     DATETIME(6)  NULL,
  summary      JSON         NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- One row per incarnation of a worker: its id is what a claim is held by.
CREATE TABLE IF NOT EXISTS workers (
  id          BIGINT       NOT NULL AUTO_INCREMENT,
  run_id      BIGINT       NOT NULL,
  slot        INT          NOT NULL,
  pid         INT          NOT NULL,
  pid_started BIGINT       NOT NULL,
  started_at  DATETIME(6)  NOT NULL,
  ended_at    DATETIME(6)  NULL,
  ending      VARCHAR(255) NULL COMMENT 'how the process ended',
  PRIMARY KEY (id),
  KEY workers_of_a_run (run_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
