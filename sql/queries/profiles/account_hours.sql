-- name: accounts_with_hours
-- List the accounts that have windows, found by the index of their zones.
SELECT id, windows, timezone, closed_days, UTC_TIMESTAMP(6) AS now
  FROM accounts
 WHERE timezone IS NOT NULL;

-- name: hours_of_accounts
-- Read the windows of these accounts, if they have any.
SELECT id, windows, timezone, closed_days, UTC_TIMESTAMP(6) AS now
  FROM accounts
 WHERE id IN %(ids)s AND timezone IS NOT NULL;
