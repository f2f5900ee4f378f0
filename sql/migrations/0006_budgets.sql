-- What does not count towards a job's cap (blocks and crashes have small budgets of their own, a
-- retry by hand starts anew), the group of its last failure, and the site it goes to.
ALTER TABLE work_queue
  ADD COLUMN blocks      INT      NOT NULL DEFAULT 0 COMMENT 'attempts that ended in a block',
  ADD COLUMN crashes     INT      NOT NULL DEFAULT 0 COMMENT 'attempts that killed worker or browser',
  ADD COLUMN forgiven    INT      NOT NULL DEFAULT 0 COMMENT 'attempts before the last retry by hand',
  ADD COLUMN fingerprint CHAR(16) NULL COMMENT 'the group of its last failure',
  ADD KEY failures_of_a_group (fingerprint);

-- The host of the payload's url. Virtual: it costs nothing until somebody limits a site.
ALTER TABLE work_queue
  ADD COLUMN site VARCHAR(255) GENERATED ALWAYS AS (
    IF(LOWER(JSON_UNQUOTE(JSON_EXTRACT(payload, '$.url'))) LIKE 'http%://%',
       LEFT(TRIM(LEADING 'www.' FROM LOWER(
         SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(
           SUBSTRING_INDEX(SUBSTRING_INDEX(JSON_UNQUOTE(JSON_EXTRACT(payload, '$.url')), '/', 3),
                           '/', -1),
           '?', 1), '#', 1), '@', -1), ':', 1))), 255),
       NULL)) VIRTUAL;

UPDATE work_queue q
  JOIN job_attempts h ON h.job_id = q.id AND h.fence = q.fence
   SET q.fingerprint = h.fingerprint, q.changed_at = q.changed_at
 WHERE q.status = 'error';
