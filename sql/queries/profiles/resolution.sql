-- name: profiles_of_account
-- List the ids of an account's profiles, those that rested longest first.
SELECT id FROM profiles
 WHERE account_id = %(account_id)s
 ORDER BY state = 'available' DESC, state_since, id;

-- name: account_of_profile
-- Tell whose a profile is.
SELECT account_id FROM profiles WHERE id = %(id)s;
