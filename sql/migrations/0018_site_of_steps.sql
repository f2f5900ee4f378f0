-- The site of a job is the host of its url, or else of the first `goto` among its steps: without it,
-- a site that such jobs wear out had no limit and no breaker, and all of them counted as one site.
ALTER TABLE work_queue
  DROP COLUMN site,
  ADD COLUMN site VARCHAR(255) GENERATED ALWAYS AS (
    IF(LOWER(JSON_UNQUOTE(COALESCE(JSON_EXTRACT(payload, '$.url'),
         JSON_EXTRACT(JSON_EXTRACT(payload, '$.steps[*].goto'), '$[0]')))) LIKE 'http%://%',
       LEFT(TRIM(LEADING 'www.' FROM LOWER(
         SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(
           SUBSTRING_INDEX(SUBSTRING_INDEX(JSON_UNQUOTE(COALESCE(JSON_EXTRACT(payload, '$.url'),
             JSON_EXTRACT(JSON_EXTRACT(payload, '$.steps[*].goto'), '$[0]'))), '/', 3),
                           '/', -1),
           '?', 1), '#', 1), '@', -1), ':', 1))), 255),
       NULL)) VIRTUAL;
