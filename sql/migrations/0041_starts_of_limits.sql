-- Every start counts a limit's row up: members of a cluster refuse a second one at the same moment
-- only if both have written something.
ALTER TABLE limits ADD COLUMN starts BIGINT NOT NULL DEFAULT 0 COMMENT 'grows with every start';
