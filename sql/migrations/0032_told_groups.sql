-- Whether people have been told of a new group of failures: once, whichever run saw it first.
ALTER TABLE failure_groups
  ADD COLUMN told_at DATETIME(6) NULL COMMENT 'when --notify told of it',
  ADD KEY untold_groups (told_at, first_seen);
