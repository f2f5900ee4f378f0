-- name: settle_profile
-- Say on which host a profile lives.
UPDATE profiles SET host = %(host)s, host_id = %(host_id)s WHERE id = %(id)s;

-- name: runs_of_host
-- Tell whether there ever was a run on a host of that name.
SELECT COUNT(*) AS runs FROM runs WHERE host = %(host)s;
