-- name: local_folders
-- List the folders of a host's local profiles; one without a host may come to live on any.
SELECT id, folder
  FROM profiles
 WHERE provider = 'local' AND folder IS NOT NULL AND (host IS NULL OR host = %(host)s)
 ORDER BY id;
