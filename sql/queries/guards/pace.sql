-- name: starts_lately
-- Read how many jobs of a key started in each minute of the last day.
SELECT starts, TIMESTAMPDIFF(MICROSECOND, minute, UTC_TIMESTAMP(6)) / 1000000 AS age_seconds
  FROM limit_starts
 WHERE name = %(name)s AND minute > UTC_TIMESTAMP() - INTERVAL 1450 MINUTE;

-- name: count_paced_start
-- Count a start of a key within this minute; one row is changed if it is the minute's first.
INSERT INTO limit_starts (name, minute, starts)
VALUES (%(name)s, UTC_TIMESTAMP() - INTERVAL SECOND(UTC_TIMESTAMP()) SECOND, 1)
ON DUPLICATE KEY UPDATE starts = starts + 1;

-- name: forget_starts
-- Remove the starts of a key that no cap counts any more.
DELETE FROM limit_starts
 WHERE name = %(name)s AND minute < UTC_TIMESTAMP() - INTERVAL 1500 MINUTE;

-- name: rest_limit
-- Let nothing of a key start for a while, because a cap is reached.
UPDATE limits
   SET resting_until = UTC_TIMESTAMP(6) + INTERVAL ROUND(%(seconds)s * 1000000) MICROSECOND,
       resting_cap = %(cap)s
 WHERE name = %(name)s;
