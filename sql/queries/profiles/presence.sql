-- name: note_contents
-- Keep what the folder of a profile holds, if that is something else than before.
UPDATE profiles SET contents = %(contents)s WHERE id = %(id)s AND contents <> %(contents)s;

-- name: forget_missing_contents
-- Let a profile whose folder or cookies are gone be made anew.
UPDATE profiles SET contents = 'none' WHERE id = %(id)s AND contents = 'missing';
