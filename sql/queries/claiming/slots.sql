-- name: add_slot_group
-- Make a group, unless there is one.
INSERT IGNORE INTO slot_groups (name, changed_at) VALUES (%(name)s, UTC_TIMESTAMP(6));

-- name: enter_slot_group
-- Begin a change of a group; everybody else's waits, or is refused at its commit.
UPDATE slot_groups SET fence = fence + 1 WHERE name = %(name)s;

-- name: read_slot_group
-- Read a group, and for how long its slots have stayed as they are.
SELECT total, most, fence,
       TIMESTAMPDIFF(MICROSECOND, changed_at, UTC_TIMESTAMP(6)) / 1000000 AS settled_seconds
  FROM slot_groups
 WHERE name = %(name)s;

-- name: read_slots
-- List the slots that are held, with the run that holds each and its launcher's process.
SELECT s.slot, s.run_id, s.fence, s.lease_until < UTC_TIMESTAMP(6) AS is_over,
       r.host, r.machine_id, r.boot_id, r.pid_namespace, r.pid, r.pid_started, r.ended_at,
       TIMESTAMPDIFF(MICROSECOND, r.heartbeat_at, UTC_TIMESTAMP(6)) / 1000000 AS silent_seconds
  FROM slots s
  LEFT JOIN runs r ON r.id = s.run_id
 WHERE s.group_name = %(name)s
 ORDER BY s.slot;

-- name: look_at_slots
-- Count the slots of a group, without a lock: what one run needs to know of the others.
SELECT g.total, g.most, COUNT(s.slot) AS held, COALESCE(SUM(s.run_id = %(run_id)s), 0) AS mine,
       COALESCE(SUM(s.lease_until < UTC_TIMESTAMP(6) AND s.run_id <> %(run_id)s), 0) AS expired,
       TIMESTAMPDIFF(MICROSECOND, g.changed_at, UTC_TIMESTAMP(6)) / 1000000 AS settled_seconds
  FROM slot_groups g
  LEFT JOIN slots s ON s.group_name = g.name
 WHERE g.name = %(name)s
 GROUP BY g.name, g.total, g.most, g.changed_at;

-- name: free_slots
-- Let others have slots.
DELETE FROM slots WHERE group_name = %(name)s AND slot IN %(slots)s;

-- name: take_slot
-- Hold a slot that nobody holds.
INSERT INTO slots (group_name, slot, run_id, fence, taken_at, lease_until)
VALUES (%(name)s, %(slot)s, %(run_id)s, %(fence)s, UTC_TIMESTAMP(6),
        UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND);

-- name: renew_slots
-- Hold slots for longer, each as long as it is still held under the fence that is known.
UPDATE slots
   SET lease_until = UTC_TIMESTAMP(6) + INTERVAL %(lease_seconds)s SECOND
 WHERE group_name = %(name)s AND run_id = %(run_id)s
   AND slot IN %(slots)s AND (slot, fence) IN %(held)s;

-- name: set_slot_total
-- Record how many slots there are now; `has_changed`: whether one was taken or freed.
UPDATE slot_groups
   SET total = %(total)s, most = %(most)s,
       changed_at = IF(%(has_changed)s, UTC_TIMESTAMP(6), changed_at)
 WHERE name = %(name)s;

-- name: note_slots_of_run
-- Show in a run's row which slots it has.
UPDATE runs SET slots = %(slots)s, total = %(total)s WHERE id = %(run_id)s;
