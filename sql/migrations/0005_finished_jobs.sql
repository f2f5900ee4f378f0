-- Finished jobs in the order they finished: for exports that follow, and for the archive.
CREATE INDEX finished_jobs ON work_queue (finished_at, id);
