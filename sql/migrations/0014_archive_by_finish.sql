-- Archived jobs in the order they finished: for exports that read queue and archive as one.
CREATE INDEX archived_by_finish ON archived_jobs (finished_at, id);
