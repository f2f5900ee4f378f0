-- Schedules: rules that add jobs at given times. Whoever sees first that one is due moves `next_at`
-- on, guarded by what it was, and adds the jobs in the same transaction.
CREATE TABLE IF NOT EXISTS schedules (
  name         VARCHAR(64)  NOT NULL,
  cron         VARCHAR(255) NOT NULL,
  timezone     VARCHAR(64)  NOT NULL,
  if_missed    ENUM('once', 'skip', 'all') NOT NULL COMMENT 'what becomes of times that nobody saw',
  task         VARCHAR(64)  NOT NULL,
  queue        VARCHAR(50)  NOT NULL,
  priority     INT          NOT NULL,
  is_batched   BOOLEAN      NOT NULL COMMENT 'the jobs of one time are a batch',
  next_at      DATETIME(6)  NOT NULL,
  is_paused    BOOLEAN      NOT NULL DEFAULT FALSE,
  fired_at     DATETIME(6)  NULL COMMENT 'when it last added jobs',
  fired        BIGINT       NOT NULL DEFAULT 0 COMMENT 'times that it has added jobs',
  missed       BIGINT       NOT NULL DEFAULT 0 COMMENT 'times that were left out',
  set_by       VARCHAR(255) NOT NULL,
  set_at       DATETIME(6)  NOT NULL,
  PRIMARY KEY (name),
  KEY next_schedules (is_paused, next_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The jobs that a schedule adds each time.
CREATE TABLE IF NOT EXISTS schedule_jobs (
  schedule   VARCHAR(64)  NOT NULL,
  number     BIGINT       NOT NULL AUTO_INCREMENT,
  payload    JSON         NOT NULL,
  PRIMARY KEY (schedule, number),
  KEY numbers (number)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
