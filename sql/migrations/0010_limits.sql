-- How much may run at once, and how often something may start, for a key such as
-- `site:example.com`; `global` is everything. The jobs in progress are the count themselves.
CREATE TABLE IF NOT EXISTS limits (
  name           VARCHAR(300) NOT NULL,
  concurrent     INT          NULL,
  per_minute     DOUBLE       NULL,
  next_start_at  DATETIME(6)  NULL COMMENT 'the rate allows nothing to start before',
  set_by         VARCHAR(255) NOT NULL,
  set_at         DATETIME(6)  NOT NULL,
  PRIMARY KEY (name),
  CONSTRAINT a_cap_is_not_negative CHECK (concurrent IS NULL OR concurrent >= 0),
  CONSTRAINT a_rate_is_positive CHECK (per_minute IS NULL OR per_minute > 0)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
