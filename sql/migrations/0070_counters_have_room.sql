-- A row whose counters stood at the end of their range could not be claimed, and stopped the workers
-- that tried. What is there so far begins anew; from now on the server refuses it.
UPDATE work_queue
   SET attempts = LEAST(attempts, 1000000000), fence = LEAST(fence, 1000000000000000000),
       blocks = LEAST(blocks, 1000000000), crashes = LEAST(crashes, 1000000000),
       depth = LEAST(depth, 1000000000)
 WHERE attempts > 1000000000 OR fence > 1000000000000000000 OR blocks > 1000000000
       OR crashes > 1000000000 OR depth > 1000000000;

ALTER TABLE work_queue
  ADD CONSTRAINT counters_have_room CHECK (
      attempts <= 1000000000 AND fence BETWEEN 0 AND 1000000000000000000 AND blocks <= 1000000000
      AND crashes <= 1000000000 AND depth <= 1000000000);
