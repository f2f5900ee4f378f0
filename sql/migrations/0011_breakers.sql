-- Circuit breakers, for keys such as `site:example.com` that have failed lately. Open: nothing is
-- claimed for the key until a time. Half open: one job, the canary, is out to see.
CREATE TABLE IF NOT EXISTS breakers (
  name           VARCHAR(300) NOT NULL,
  state          ENUM('closed', 'open', 'half_open') NOT NULL DEFAULT 'closed',
  failures       INT          NOT NULL DEFAULT 0 COMMENT 'since the window began',
  window_start   DATETIME(6)  NOT NULL,
  openings       INT          NOT NULL DEFAULT 0 COMMENT 'in a row, without a success in between',
  opened_at      DATETIME(6)  NULL,
  until          DATETIME(6)  NULL COMMENT 'open: until then; half open: the canary is lost after',
  canary_job     BIGINT       NULL,
  canary_fence   BIGINT       NULL,
  reason         VARCHAR(255) NULL,
  held           ENUM('open', 'closed') NULL COMMENT 'by hand: stays so',
  held_by        VARCHAR(255) NULL,
  PRIMARY KEY (name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
