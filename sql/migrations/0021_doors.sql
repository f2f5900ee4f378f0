-- What each proxy was like, by its name, also after it was removed: one that comes back with another
-- address or region is not the one that its profiles were seen through.
CREATE TABLE IF NOT EXISTS proxy_addresses (
  name         VARCHAR(64)  NOT NULL,
  host         VARCHAR(255) NOT NULL,
  port         INT          NOT NULL,
  region       VARCHAR(64)  NULL,
  exit_address VARCHAR(64)  NULL COMMENT 'what sites see, as the last test that could tell found it',
  noted_at     DATETIME(6)  NOT NULL,
  PRIMARY KEY (name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

INSERT IGNORE INTO proxy_addresses (name, host, port, region, noted_at)
SELECT name, host, port, region, UTC_TIMESTAMP(6) FROM proxies;

ALTER TABLE profiles
  MODIFY COLUMN proxy VARCHAR(64) NULL
      COMMENT 'name of its proxy; none: it goes out directly; NULL: it does not say';
