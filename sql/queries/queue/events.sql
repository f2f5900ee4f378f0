-- name: begin_event
-- Note that something begins, unless it goes on already.
INSERT IGNORE INTO events (kind, name, began_at, detail)
VALUES (%(kind)s, %(name)s, UTC_TIMESTAMP(6), %(detail)s);

-- name: end_event
-- Note that what goes on is over.
UPDATE events
   SET ended_at = UTC_TIMESTAMP(6), detail = JSON_MERGE_PATCH(detail, %(detail)s)
 WHERE going_on = CONCAT(%(kind)s, ':', %(name)s);

-- name: keep_outage
-- Note an outage that is over.
INSERT INTO events (kind, name, began_at, ended_at, run_id, detail)
VALUES ('outage', %(name)s, UTC_TIMESTAMP(6) - INTERVAL %(seconds)s SECOND, UTC_TIMESTAMP(6),
        %(run_id)s, '{}');

-- name: forget_old_events
-- Remove events that ended long ago.
DELETE FROM events
 WHERE ended_at < UTC_TIMESTAMP(6) - INTERVAL %(days)s DAY
 ORDER BY ended_at
 LIMIT %(at_most)s;
