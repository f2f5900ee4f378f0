-- name: lock_account
-- Read one account and keep others from changing it until the transaction ends.
SELECT * FROM accounts WHERE id = %(id)s FOR UPDATE;

-- name: set_account_rules
-- Set what holds for all jobs of an account.
UPDATE accounts
   SET is_ordered = %(is_ordered)s, on_failure = %(on_failure)s, windows = %(windows)s,
       timezone = %(timezone)s, closed_days = %(closed_days)s
 WHERE id = %(id)s;
