-- name: has_due_events
-- Tell whether any event should be sent now.
SELECT EXISTS (SELECT 1 FROM outbox WHERE next_try_at <= UTC_TIMESTAMP(6)) AS has_due;

-- name: due_events
-- List events to send now, without locks: of each job only the oldest that is not over, and none
-- to the places that are left out. The time to sign is the database's.
SELECT o.id, o.event_id, o.event, o.job_id, o.attempt, o.task, o.dedupe_key, o.result, o.reason,
       o.happened_at, o.used_profile, o.used_account, o.used_proxy,
       o.url, o.deliveries, UNIX_TIMESTAMP() AS now_seconds,
       TIMESTAMPDIFF(SECOND, COALESCE(o.revived_at, o.happened_at), UTC_TIMESTAMP()) AS age_seconds
  FROM outbox o FORCE INDEX (next_deliveries)
 WHERE o.next_try_at <= UTC_TIMESTAMP(6)
   AND SUBSTRING_INDEX(o.url, '/', 3) NOT IN %(left_out)s
   AND NOT EXISTS (SELECT 1 FROM outbox former
                    WHERE former.job_id = o.job_id AND former.id < o.id
                      AND former.next_try_at IS NOT NULL)
 ORDER BY o.next_try_at, o.delivered_at, o.id
 LIMIT %(limit)s;

-- name: take_event
-- Take one event to send it, if nobody has since it was read; it is due again when the lease ends.
UPDATE outbox
   SET deliveries = deliveries + 1,
       next_try_at = UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND
 WHERE id = %(id)s AND deliveries = %(deliveries)s AND next_try_at <= UTC_TIMESTAMP(6);

-- name: mark_delivered
-- Note that an event has arrived. It has, whoever holds it by now: so there is no guard.
UPDATE outbox
   SET delivered_at = UTC_TIMESTAMP(6), next_try_at = NULL, last_problem = NULL
 WHERE id = %(id)s AND delivered_at IS NULL;

-- name: mark_failed
-- Note why an event did not arrive, and when to try again; without a delay it is given up.
UPDATE outbox
   SET last_problem = %(problem)s,
       next_try_at = UTC_TIMESTAMP(6) + INTERVAL %(delay_seconds)s SECOND
 WHERE id = %(id)s AND deliveries = %(deliveries)s AND next_try_at IS NOT NULL;

-- name: give_up_old_events
-- Give up the events to one silent place that have been waiting for too long.
UPDATE outbox
   SET last_problem = %(problem)s, next_try_at = NULL
 WHERE next_try_at <= UTC_TIMESTAMP(6) AND SUBSTRING_INDEX(url, '/', 3) = %(place)s
   AND COALESCE(revived_at, happened_at) < UTC_TIMESTAMP(6) - INTERVAL %(max_seconds)s SECOND
 LIMIT %(limit)s;

-- name: revive_given_up
-- Let given-up events be sent again, as if they had just happened.
UPDATE outbox
   SET next_try_at = UTC_TIMESTAMP(6), revived_at = UTC_TIMESTAMP(6), deliveries = 0
 WHERE next_try_at IS NULL AND delivered_at IS NULL;

-- name: forget_delivered
-- Remove events that arrived long ago.
DELETE FROM outbox
 WHERE next_try_at IS NULL
   AND delivered_at < UTC_TIMESTAMP(6) - INTERVAL %(kept_seconds)s SECOND
 ORDER BY delivered_at
 LIMIT %(limit)s;

-- name: count_events
-- Count the events that wait, and those given up, from the index alone.
SELECT (SELECT COUNT(*) FROM outbox WHERE next_try_at IS NOT NULL) AS waiting,
       (SELECT COUNT(*) FROM outbox
         WHERE next_try_at IS NULL AND delivered_at IS NULL) AS given_up;

-- name: count_delivered
-- Count the events that arrived between two moments, from the index alone.
SELECT COUNT(*) AS events FROM outbox
 WHERE next_try_at IS NULL AND delivered_at >= %(start)s AND delivered_at < %(end)s;

-- name: undelivered_events
-- List events that have not arrived: first what waits, by its next try, then what was given up.
SELECT * FROM (
  (SELECT id, event_id, event, job_id, happened_at, url, deliveries, next_try_at, last_problem
     FROM outbox WHERE next_try_at IS NOT NULL
    ORDER BY next_try_at, id LIMIT %(limit)s)
  UNION ALL
  (SELECT id, event_id, event, job_id, happened_at, url, deliveries, next_try_at, last_problem
     FROM outbox WHERE next_try_at IS NULL AND delivered_at IS NULL
    ORDER BY id LIMIT %(limit)s)
) undelivered
 ORDER BY next_try_at IS NULL, next_try_at, id
 LIMIT %(limit)s;
