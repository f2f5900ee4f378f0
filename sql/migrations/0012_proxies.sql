-- The proxies that ordinary jobs go out through. Passwords stand here as they are: whoever may read
-- this table may use the proxies.
CREATE TABLE IF NOT EXISTS proxies (
  id              INT           NOT NULL AUTO_INCREMENT,
  name            VARCHAR(64)   NOT NULL,
  scheme          VARCHAR(8)    NOT NULL,
  host            VARCHAR(255)  NOT NULL,
  port            INT           NOT NULL,
  username        VARCHAR(255)  NULL,
  password        VARCHAR(1024) NULL,
  region          VARCHAR(64)   NULL,
  is_enabled      BOOLEAN       NOT NULL DEFAULT TRUE,
  disabled_reason VARCHAR(255)  NULL,
  blocks          INT           NOT NULL DEFAULT 0,
  blocked_at      DATETIME(6)   NULL,
  failures        INT           NOT NULL DEFAULT 0 COMMENT 'of its own, in a row',
  cooling_until   DATETIME(6)   NULL COMMENT 'not chosen before',
  cooling_reason  VARCHAR(255)  NULL,
  used_at         DATETIME(6)   NULL COMMENT 'chosen last',
  added_at        DATETIME(6)   NOT NULL,
  tested_at       DATETIME(6)   NULL,
  test_ms         INT           NULL,
  test_problem    VARCHAR(255)  NULL COMMENT 'of the last test; NULL when it went well',
  PRIMARY KEY (id),
  UNIQUE KEY one_of_a_name (name),
  CONSTRAINT a_proxy_has_a_port CHECK (port > 0 AND port < 65536)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The one proxy that an account is seen through.
CREATE TABLE IF NOT EXISTS account_proxies (
  account_id  VARCHAR(64)  NOT NULL,
  proxy_id    INT          NOT NULL,
  since       DATETIME(6)  NOT NULL,
  PRIMARY KEY (account_id),
  KEY accounts_of_a_proxy (proxy_id),
  CONSTRAINT account_proxies_of_a_proxy FOREIGN KEY (proxy_id) REFERENCES proxies (id)
    ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
