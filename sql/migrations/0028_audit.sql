-- What people have done by the dashboard: who, when, what, to which jobs or things, and to how many.
-- The row is there before anything is done, so that a broken-off action is seen too.
CREATE TABLE IF NOT EXISTS audit (
  id      BIGINT       NOT NULL AUTO_INCREMENT,
  at      DATETIME(6)  NOT NULL,
  who     VARCHAR(255) NOT NULL,
  role    VARCHAR(16)  NOT NULL,
  action  VARCHAR(64)  NOT NULL,
  scope   VARCHAR(500) NOT NULL COMMENT 'what it was done to, in words',
  reason  VARCHAR(255) NOT NULL DEFAULT '',
  address VARCHAR(64)  NOT NULL COMMENT 'where the request came from',
  number  INT          NULL COMMENT 'how many it was done to; NULL: it did not come to an end',
  outcome VARCHAR(500) NULL COMMENT 'what was said about it in the end',
  PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
