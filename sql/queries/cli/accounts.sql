-- name: list_accounts
-- List accounts with the number of their profiles.
SELECT a.*, (SELECT COUNT(*) FROM profiles p WHERE p.account_id = a.id) AS profiles
  FROM accounts a
 ORDER BY a.id;
