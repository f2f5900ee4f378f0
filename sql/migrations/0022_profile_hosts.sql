-- A local profile's folder is on one host, which is shown by its name and known by both columns.
-- What was in the folder is remembered, so that an empty one is never taken for the same profile.
-- A browser that could not be stopped is tried again at a later time.
ALTER TABLE profiles
  ADD COLUMN host         VARCHAR(255) NULL
      COMMENT 'where a local profile lives; NULL: on the first host that opens it',
  ADD COLUMN host_id      VARCHAR(64)  NULL
      COMMENT 'that host over reboots; NULL: the first of that name',
  ADD COLUMN contents     ENUM('none', 'folder', 'cookies', 'missing') NOT NULL DEFAULT 'none'
      COMMENT 'what a local profile''s folder held when it was last closed; missing: not any more',
  ADD COLUMN stop_tries   INT          NOT NULL DEFAULT 0
      COMMENT 'how often what its last holder left running could not be stopped',
  ADD COLUMN next_stop_at DATETIME(6)  NULL COMMENT 'when that is tried again',
  ADD KEY profiles_by_host (provider, host);
