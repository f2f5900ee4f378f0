-- The outbox: one row per outcome that somebody wants to be told of, written in the transaction
-- that settles the job, delivered afterwards. Its key makes a repeated settlement one event.
CREATE TABLE IF NOT EXISTS outbox (
  id              BIGINT        NOT NULL AUTO_INCREMENT,
  event_id        CHAR(36)      NOT NULL COMMENT 'the same at every delivery of this event',
  event           VARCHAR(32)   NOT NULL COMMENT 'job.done or job.error',
  job_id          BIGINT        NOT NULL,
  fence           BIGINT        NOT NULL,
  attempt         INT           NOT NULL,
  task            VARCHAR(64)   NOT NULL,
  dedupe_key      VARCHAR(191)  NULL,
  result          JSON          NULL,
  reason          VARCHAR(500)  NULL,
  happened_at     DATETIME(6)   NOT NULL,
  url             VARCHAR(2048) NOT NULL,
  deliveries      INT           NOT NULL DEFAULT 0 COMMENT 'times it was tried',
  next_try_at     DATETIME(6)   NULL COMMENT 'NULL: delivered or given up',
  delivered_at    DATETIME(6)   NULL,
  revived_at      DATETIME(6)   NULL COMMENT 'given up before then, and tried anew since',
  last_problem    VARCHAR(500)  NULL,
  PRIMARY KEY (id),
  UNIQUE KEY one_event_per_settlement (job_id, fence, happened_at),
  KEY next_deliveries (next_try_at, delivered_at, id),
  CONSTRAINT what_is_delivered_is_over CHECK (delivered_at IS NULL OR next_try_at IS NULL)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
