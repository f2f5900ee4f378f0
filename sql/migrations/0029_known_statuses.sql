-- A client without strict mode could write any status: the server kept an empty one, and such a job
-- was neither claimed nor counted. What is there so far becomes a dead letter, for a person to judge;
-- from now on the server refuses it, in whatever mode.
UPDATE work_queue
   SET status = 'error', finished_at = UTC_TIMESTAMP(6),
       last_error = 'it was added with an unknown status, so it was never run; leave the status out'
 WHERE status = '';

ALTER TABLE work_queue ADD CONSTRAINT a_status_is_known CHECK (status <> '');
