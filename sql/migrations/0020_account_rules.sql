-- Whose job it is: its account, or the profile it names alone. Stored and indexed, but without its
-- state, so that claims and finishes of other jobs do not touch its indexes.
ALTER TABLE work_queue
  ADD COLUMN order_key        VARCHAR(191) NULL COMMENT 'jobs of one key run by id, one at a time',
  ADD COLUMN order_on_failure ENUM('wait', 'skip', 'stop') NULL
      COMMENT 'what becomes of the jobs behind it if it fails; NULL: its account''s choice, or wait',
  ADD COLUMN owner_key        VARCHAR(80) GENERATED ALWAYS AS (
      COALESCE(
        CONCAT('account:', COALESCE(account_id, LEFT(
          NULLIF(JSON_UNQUOTE(JSON_EXTRACT(payload, '$.manifest.account')), 'null'), 64))),
        CONCAT('profile:', COALESCE(profile_id, LEFT(
          NULLIF(JSON_UNQUOTE(JSON_EXTRACT(payload, '$.manifest.profile')), 'null'), 64))))) STORED
      COMMENT 'account:A or profile:P',
  ADD CONSTRAINT an_order_key_is_not_empty CHECK (order_key IS NULL OR order_key <> '');

-- The place of a job in its order while it has one (`key:K`, `account:A`, `profile:P`; after a
-- failure that others wait for `failed:key:K`), and when and how an owner's job ended. All are NULL
-- for other jobs, whatever becomes of them.
ALTER TABLE work_queue
  ADD COLUMN order_place VARCHAR(210) GENERATED ALWAYS AS (
    CASE status
      WHEN 'done' THEN NULL
      WHEN 'error' THEN IF(COALESCE(order_on_failure, '') = 'skip', NULL,
                           CONCAT('failed:', COALESCE(CONCAT('key:', order_key), owner_key)))
      ELSE COALESCE(CONCAT('key:', order_key), owner_key)
    END) STORED,
  ADD COLUMN owner_ended_at DATETIME(6) GENERATED ALWAYS AS (
    IF(owner_key IS NULL, NULL, finished_at)) STORED,
  ADD COLUMN owner_status VARCHAR(16) GENERATED ALWAYS AS (
    IF(owner_key IS NULL OR finished_at IS NULL, NULL, CONCAT('', status))) STORED,
  ADD KEY next_in_order (order_place, id),
  ADD KEY ended_jobs_of_an_owner (owner_key, owner_status, owner_ended_at);

ALTER TABLE archived_jobs
  ADD COLUMN order_key        VARCHAR(191) NULL,
  ADD COLUMN order_on_failure ENUM('wait', 'skip', 'stop') NULL,
  ADD COLUMN owner_key        VARCHAR(80) NULL,
  ADD KEY archived_jobs_of_an_owner (owner_key, status, finished_at);

UPDATE archived_jobs
   SET owner_key = COALESCE(CONCAT('account:', account), CONCAT('profile:', profile));

-- Blocks by time, for the figures of accounts.
ALTER TABLE job_attempts ADD KEY attempts_by_outcome (outcome, finished_at);

ALTER TABLE archived_attempts ADD KEY archived_attempts_by_outcome (outcome, finished_at);

-- One row for each order that had a job lately: written with every claim in it, so that two claims
-- of one order never pass each other, on whatever node.
CREATE TABLE IF NOT EXISTS turns (
  name     VARCHAR(200) NOT NULL,
  job_id   BIGINT       NOT NULL,
  taken_at DATETIME(6)  NOT NULL,
  PRIMARY KEY (name),
  KEY turns_by_time (taken_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

ALTER TABLE accounts
  ADD COLUMN is_ordered  BOOLEAN     NOT NULL DEFAULT FALSE COMMENT 'its jobs run by id, one at a time',
  ADD COLUMN on_failure  ENUM('wait', 'skip', 'stop') NOT NULL DEFAULT 'wait',
  ADD COLUMN windows     JSON        NULL COMMENT 'when its jobs may start; NULL: always',
  ADD COLUMN timezone    VARCHAR(64) NULL COMMENT 'of its windows and days; NULL: it has neither',
  ADD COLUMN closed_days JSON        NULL COMMENT 'days on which nothing starts',
  ADD KEY ordered_accounts (is_ordered),
  ADD KEY accounts_with_hours (timezone);

-- Caps on starts within an hour and a day, and a daily cap that grows.
ALTER TABLE limits
  ADD COLUMN per_hour      INT          NULL,
  ADD COLUMN per_day       INT          NULL,
  ADD COLUMN warm_from     INT          NULL,
  ADD COLUMN warm_to       INT          NULL,
  ADD COLUMN warm_seconds  INT          NULL,
  ADD COLUMN warm_since    DATETIME(6)  NULL,
  ADD COLUMN resting_until DATETIME(6)  NULL COMMENT 'such a cap allows nothing to start before',
  ADD COLUMN resting_cap   VARCHAR(64)  NULL COMMENT 'which cap that is';

CREATE TABLE IF NOT EXISTS limit_starts (
  name   VARCHAR(300) NOT NULL,
  minute DATETIME     NOT NULL,
  starts INT          NOT NULL,
  PRIMARY KEY (name, minute)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
