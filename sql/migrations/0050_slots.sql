-- The slots that runs with `--slots auto` share. A group of runs is all that work the same queues.
-- Who changes anything in a group writes its row in the same transaction: so one change follows the
-- other, also where locks hold on one member of a cluster only.
CREATE TABLE IF NOT EXISTS slot_groups (
  name       VARCHAR(191) NOT NULL COMMENT 'the queues that its runs work',
  total      INT          NOT NULL DEFAULT 0 COMMENT 'a partition is id % total',
  most       INT          NULL COMMENT 'never more slots than this; NULL: as many as are wanted',
  fence      BIGINT       NOT NULL DEFAULT 0 COMMENT 'grows with every change',
  changed_at DATETIME(6)  NOT NULL COMMENT 'when a slot was taken or freed',
  PRIMARY KEY (name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- One row for each slot that a run holds, until it gives it back or its lease is over.
CREATE TABLE IF NOT EXISTS slots (
  group_name  VARCHAR(191) NOT NULL,
  slot        INT          NOT NULL,
  run_id      BIGINT       NOT NULL,
  fence       BIGINT       NOT NULL COMMENT 'of its group, when it was taken',
  taken_at    DATETIME(6)  NOT NULL,
  lease_until DATETIME(6)  NOT NULL,
  PRIMARY KEY (group_name, slot)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

ALTER TABLE runs
  ADD COLUMN slots VARCHAR(4000) NULL
      COMMENT 'the slots of a run with --slots auto, such as 0-2,5; NULL: from first_slot on';
