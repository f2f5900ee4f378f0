-- What an operator has asked of every pool on this database, such as to pause.
CREATE TABLE IF NOT EXISTS control (
  name   VARCHAR(64)  NOT NULL,
  reason VARCHAR(255) NOT NULL,
  set_by VARCHAR(255) NOT NULL,
  set_at DATETIME(6)  NOT NULL,
  PRIMARY KEY (name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
