-- Where a proxy was blocked: it is left alone for that site, and goes on for the others. Only its
-- own failures let it cool down as a whole. A job without a site has the site ''.
CREATE TABLE IF NOT EXISTS proxy_blocks (
  proxy_id      INT          NOT NULL,
  site          VARCHAR(255) NOT NULL,
  blocked_at    DATETIME(6)  NOT NULL,
  cooling_until DATETIME(6)  NOT NULL COMMENT 'not chosen for this site before',
  reason        VARCHAR(255) NOT NULL,
  PRIMARY KEY (proxy_id, site),
  KEY blocks_by_end (cooling_until),
  CONSTRAINT proxy_blocks_of_a_proxy FOREIGN KEY (proxy_id) REFERENCES proxies (id)
    ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
