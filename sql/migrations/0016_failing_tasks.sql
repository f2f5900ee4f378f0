-- Whose failures a breaker counts: a task that fails at a site does not mean that the site fails.
ALTER TABLE breakers
  ADD COLUMN failing JSON NULL
      COMMENT 'failures of each task; closed: since the window began, else: since it last opened';
