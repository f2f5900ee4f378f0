-- name: keep_face
-- Keep what sites have been shown of a profile; its holder writes this before its browser is opened.
UPDATE profiles
   SET face = %(face)s, shown_version = GREATEST(COALESCE(shown_version, 0), %(version)s)
 WHERE id = %(id)s;
