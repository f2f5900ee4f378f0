-- An empty profile or account names nobody, and such a job ran in the ordinary browser. One that
-- still waits becomes a dead letter, for a person to judge; from now on the server refuses it.
UPDATE work_queue
   SET status = 'error', finished_at = UTC_TIMESTAMP(6),
       last_error = 'it was added with an empty profile_id or account_id, so nobody knows whose it is; leave out what it has none of'
 WHERE status = 'pending' AND (profile_id = '' OR account_id = '');

UPDATE work_queue
   SET profile_id = NULLIF(profile_id, ''), account_id = NULLIF(account_id, '')
 WHERE profile_id = '' OR account_id = '';

ALTER TABLE work_queue
  ADD CONSTRAINT a_profile_is_named CHECK (profile_id IS NULL OR profile_id <> ''),
  ADD CONSTRAINT an_account_is_named CHECK (account_id IS NULL OR account_id <> '');
