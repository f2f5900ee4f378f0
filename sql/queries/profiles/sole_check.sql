-- name: lock_check
-- Be the only one who checks a profile; the lock goes with the connection.
SELECT GET_LOCK(CONCAT('nightshift.check.', LEFT(SHA2(CONCAT(DATABASE(), ':', %(id)s), 256), 32)), 0)
       AS locked;

-- name: unlock_check
-- Let others check a profile.
SELECT RELEASE_LOCK(CONCAT('nightshift.check.',
                           LEFT(SHA2(CONCAT(DATABASE(), ':', %(id)s), 256), 32))) AS released;
