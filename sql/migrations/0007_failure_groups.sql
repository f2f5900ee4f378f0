-- Failures that are really the same error, known by their fingerprint: one row each, for ever.
CREATE TABLE IF NOT EXISTS failure_groups (
  fingerprint     CHAR(16)     NOT NULL,
  task            VARCHAR(64)  NOT NULL,
  label           VARCHAR(255) NOT NULL COMMENT 'what they have in common, in one line',
  first_seen      DATETIME(6)  NOT NULL,
  last_seen       DATETIME(6)  NOT NULL,
  failures        BIGINT       NOT NULL COMMENT 'attempts that ever failed so',
  sample_job      BIGINT       NOT NULL COMMENT 'the latest of them',
  sample_attempt  INT          NOT NULL,
  sample_evidence VARCHAR(255) NULL COMMENT 'folder, relative to the errors folder',
  muted_at        DATETIME(6)  NULL,
  muted_by        VARCHAR(255) NULL,
  mute_reason     VARCHAR(255) NULL,
  PRIMARY KEY (fingerprint)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

INSERT IGNORE INTO failure_groups (fingerprint, task, label, first_seen, last_seen, failures,
                                   sample_job, sample_attempt, sample_evidence)
SELECT h.fingerprint, MAX(q.task), LEFT(MAX(h.reason), 255), MIN(h.finished_at),
       MAX(h.finished_at), COUNT(*), MAX(h.job_id), MAX(h.attempt), NULL
  FROM job_attempts h
  JOIN work_queue q ON q.id = h.job_id
 WHERE h.fingerprint IS NOT NULL
 GROUP BY h.fingerprint;
