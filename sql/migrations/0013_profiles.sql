-- Accounts, the browser profiles that belong to them, who holds a profile now, and an event for
-- everything that ever happened to one.
CREATE TABLE IF NOT EXISTS accounts (
  id            VARCHAR(64)  NOT NULL,
  paused_reason VARCHAR(255) NULL COMMENT 'NULL: not paused',
  paused_by     VARCHAR(255) NULL,
  paused_at     DATETIME(6)  NULL,
  created_at    DATETIME(6)  NOT NULL,
  PRIMARY KEY (id),
  KEY paused_accounts (paused_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS profiles (
  id              VARCHAR(64)   NOT NULL,
  account_id      VARCHAR(64)   NULL,
  proxy           VARCHAR(64)   NULL COMMENT 'name of its proxy',
  provider        VARCHAR(32)   NOT NULL DEFAULT 'local',
  folder          VARCHAR(1024) NULL COMMENT 'of a local profile',
  vendor_id       VARCHAR(255)  NULL COMMENT 'what the vendor calls it',
  endpoint        VARCHAR(1024) NULL COMMENT 'where a cdp profile, or the vendor, listens',
  options         JSON          NULL COMMENT 'the provider''s own',
  region          VARCHAR(64)   NULL COMMENT 'its proxy must be there',
  max_active_runs INT           NOT NULL DEFAULT 1,
  release_policy  ENUM('check', 'review', 'quarantine') NOT NULL DEFAULT 'check'
                                COMMENT 'where an unexplained ending leads',
  allowed_actions JSON          NULL COMMENT 'list of tasks; NULL: all',
  state           ENUM('available', 'leased', 'stale', 'review_required', 'quarantined',
                       'disabled') NOT NULL DEFAULT 'available',
  state_reason    VARCHAR(500)  NULL,
  state_by        VARCHAR(255)  NULL,
  state_since     DATETIME(6)   NOT NULL,
  fence           BIGINT        NOT NULL DEFAULT 0 COMMENT 'grows with every lease',
  created_at      DATETIME(6)   NOT NULL,
  PRIMARY KEY (id),
  KEY profiles_of_an_account (account_id),
  KEY profiles_not_available (state),
  CONSTRAINT at_least_one_run CHECK (max_active_runs >= 1)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- One row per hold on a profile; it goes when the hold ends, and the events remember it.
CREATE TABLE IF NOT EXISTS profile_leases (
  profile_id     VARCHAR(64)  NOT NULL,
  fence          BIGINT       NOT NULL,
  account_id     VARCHAR(64)  NULL,
  holder         VARCHAR(255) NOT NULL COMMENT 'worker or person, for people',
  is_person      BOOLEAN      NOT NULL DEFAULT FALSE,
  is_exclusive   BOOLEAN      NOT NULL DEFAULT FALSE,
  run_id         BIGINT       NULL,
  incarnation    BIGINT       NULL,
  job_id         BIGINT       NULL,
  job_fence      BIGINT       NULL,
  proxy          VARCHAR(64)  NULL,
  release_policy ENUM('check', 'review', 'quarantine') NOT NULL,
  acquired_at    DATETIME(6)  NOT NULL,
  heartbeat_at   DATETIME(6)  NOT NULL,
  expires_at     DATETIME(6)  NOT NULL,
  last_step      VARCHAR(255) NULL COMMENT 'last safe step of its task',
  last_url       VARCHAR(2048) NULL COMMENT 'where its page was at that step',
  review_reason  VARCHAR(255) NULL COMMENT 'why its task wants a person to look',
  PRIMARY KEY (profile_id, fence),
  KEY leases_of_a_worker (incarnation),
  KEY leases_by_end (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS profile_events (
  id         BIGINT       NOT NULL AUTO_INCREMENT,
  profile_id VARCHAR(64)  NULL,
  account_id VARCHAR(64)  NULL,
  at         DATETIME(6)  NOT NULL,
  event      VARCHAR(32)  NOT NULL,
  from_state VARCHAR(16)  NULL,
  to_state   VARCHAR(16)  NULL,
  fence      BIGINT       NULL,
  job_id     BIGINT       NULL,
  author     VARCHAR(255) NOT NULL,
  reason     VARCHAR(500) NOT NULL,
  decision   VARCHAR(32)  NULL COMMENT 'what became of the job, where a profile was not ready',
  next_check DATETIME(6)  NULL,
  PRIMARY KEY (id),
  KEY events_of_a_profile (profile_id, id),
  KEY events_of_a_job (job_id, event)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Which profile and account a job asks for: its columns, or the manifest in its payload.
ALTER TABLE work_queue
  ADD COLUMN profile VARCHAR(64) GENERATED ALWAYS AS (
    COALESCE(profile_id,
             LEFT(NULLIF(JSON_UNQUOTE(JSON_EXTRACT(payload, '$.manifest.profile')), 'null'), 64))
  ) VIRTUAL,
  ADD COLUMN account VARCHAR(64) GENERATED ALWAYS AS (
    COALESCE(account_id,
             LEFT(NULLIF(JSON_UNQUOTE(JSON_EXTRACT(payload, '$.manifest.account')), 'null'), 64))
  ) VIRTUAL;

-- Whether code, site, proxy, profile, contention or the pool was at fault.
ALTER TABLE job_attempts
  ADD COLUMN cause ENUM('code', 'site', 'proxy', 'profile', 'contention', 'pool') NULL;

ALTER TABLE archived_jobs
  ADD COLUMN profile VARCHAR(64) NULL,
  ADD COLUMN account VARCHAR(64) NULL;

ALTER TABLE archived_attempts
  ADD COLUMN cause ENUM('code', 'site', 'proxy', 'profile', 'contention', 'pool') NULL;
