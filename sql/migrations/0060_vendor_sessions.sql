-- The session by which a vendor stops the browser of a profile, where that is not the profile's own
-- name: kept before the browser is used, so that it can be stopped after its worker's death.
ALTER TABLE profiles
  ADD COLUMN vendor_session VARCHAR(255) NULL COMMENT 'what is running by that name, until it is stopped';
