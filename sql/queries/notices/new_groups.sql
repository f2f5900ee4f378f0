-- name: untold_groups
-- List the groups that were first seen since the night of a run began, that nobody has been told of
-- and in which this many jobs have failed for good; without muted ones, the largest first. A group
-- that has passed the number is told and gone from here, so that the counted ones stay small.
SELECT d.fingerprint, d.task, d.label, d.jobs
  FROM (SELECT g.fingerprint, g.task, g.label,
               (SELECT COUNT(*)
                  FROM work_queue q FORCE INDEX (failures_of_a_group)
                 WHERE q.fingerprint = g.fingerprint AND q.status = 'error') AS jobs
          FROM failure_groups g FORCE INDEX (untold_groups)
         WHERE g.told_at IS NULL AND g.muted_at IS NULL
           AND g.first_seen >= %(new_since)s) d
 WHERE d.jobs >= %(least_jobs)s
 ORDER BY d.jobs DESC, d.fingerprint;

-- name: take_group
-- Note that people are told of a group, unless somebody else has done so.
UPDATE failure_groups
   SET told_at = UTC_TIMESTAMP(6)
 WHERE fingerprint = %(fingerprint)s AND told_at IS NULL;

-- name: give_group_back
-- Note that people could not be told of a group.
UPDATE failure_groups SET told_at = NULL WHERE fingerprint = %(fingerprint)s;
