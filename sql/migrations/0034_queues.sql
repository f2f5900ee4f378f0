-- Queues: a name that groups jobs. It is in no index: a run that meets jobs of other queues leaves
-- them out like jobs that are held back, so claims and finishes cost what they did.
ALTER TABLE work_queue
  ADD COLUMN queue VARCHAR(50) NOT NULL DEFAULT 'default' COMMENT 'a run works the queues it names';

ALTER TABLE archived_jobs
  ADD COLUMN queue VARCHAR(50) NOT NULL DEFAULT 'default';

-- Which jobs a run does: others stay for a run that knows them.
ALTER TABLE runs
  ADD COLUMN queues VARCHAR(1000) NOT NULL DEFAULT 'default' COMMENT 'separated by commas',
  ADD COLUMN tasks  JSON          NULL COMMENT 'names of the tasks it has loaded; NULL: it takes any';
