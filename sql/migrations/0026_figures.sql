-- What ended in each minute, hour and day, by task and by how the attempt ended. Worked out of the
-- finished jobs and the attempts by one writer at a time; it can be worked out again at any time.
CREATE TABLE IF NOT EXISTS task_rollups (
  span         ENUM('minute', 'hour', 'day') NOT NULL,
  start        DATETIME    NOT NULL,
  task         VARCHAR(64) NOT NULL,
  outcome      ENUM('done', 'retry', 'blocked', 'error', 'handed_back', 'swept', 'crashed',
                    'timed_out') NOT NULL,
  attempts     INT         NOT NULL COMMENT 'attempts that ended so',
  failed       INT         NOT NULL COMMENT 'jobs that failed for good with them',
  recovered    INT         NOT NULL COMMENT 'jobs that were done after more than one attempt',
  run_seconds  DOUBLE      NOT NULL COMMENT 'from start to end, of all of them together',
  wait_seconds DOUBLE      NOT NULL COMMENT 'from ready to start, of all of them together',
  durations    JSON        NOT NULL COMMENT 'attempts by number of their bucket',
  waits        JSON        NOT NULL COMMENT 'the same, of the waiting times',
  PRIMARY KEY (span, start, task, outcome)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The same by worker, for lanes and for what each worker came to.
CREATE TABLE IF NOT EXISTS worker_rollups (
  span         ENUM('minute', 'hour', 'day') NOT NULL,
  start        DATETIME    NOT NULL,
  run_id       BIGINT      NOT NULL COMMENT '0: not known',
  slot         INT         NOT NULL,
  outcome      ENUM('done', 'retry', 'blocked', 'error', 'handed_back', 'swept', 'crashed',
                    'timed_out') NOT NULL,
  attempts     INT         NOT NULL,
  failed       INT         NOT NULL,
  recovered    INT         NOT NULL,
  run_seconds  DOUBLE      NOT NULL,
  wait_seconds DOUBLE      NOT NULL,
  durations    JSON        NOT NULL,
  waits        JSON        NOT NULL,
  PRIMARY KEY (span, start, run_id, slot, outcome)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Who writes them, until when that holds, and how far they are. One row.
CREATE TABLE IF NOT EXISTS rollup_writer (
  id            TINYINT      NOT NULL,
  owner         VARCHAR(255) NULL,
  fence         BIGINT       NOT NULL DEFAULT 0 COMMENT 'grows whenever the writer changes',
  lease_until   DATETIME(6)  NULL,
  counted_until DATETIME     NULL COMMENT 'minutes before have been counted; NULL: none yet',
  settled_until DATETIME     NULL COMMENT 'minutes before are counted for good',
  hours_until   DATETIME     NULL COMMENT 'hours before have been put together',
  days_until    DATETIME     NULL COMMENT 'days before have been put together',
  PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

INSERT IGNORE INTO rollup_writer (id) VALUES (1);

-- What held the pool up, from when until when: pauses, outages of the database, open breakers. Runs
-- and workers have tables of their own. Of one kind and name at most one goes on at a time.
CREATE TABLE IF NOT EXISTS events (
  id        BIGINT       NOT NULL AUTO_INCREMENT,
  kind      ENUM('pause', 'outage', 'breaker') NOT NULL,
  name      VARCHAR(300) NOT NULL COMMENT 'of what: a breaker''s key, a host; empty for pauses',
  began_at  DATETIME(6)  NOT NULL,
  ended_at  DATETIME(6)  NULL COMMENT 'NULL: it goes on',
  run_id    BIGINT       NULL,
  detail    JSON         NOT NULL COMMENT 'why it began and ended, and by whom',
  going_on  VARCHAR(320) GENERATED ALWAYS AS (
              IF(ended_at IS NULL, CONCAT(kind, ':', name), NULL)) STORED,
  PRIMARY KEY (id),
  UNIQUE KEY one_going_on (going_on),
  KEY events_by_end (ended_at),
  KEY events_by_begin (began_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
