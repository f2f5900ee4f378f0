-- What sites see of a local profile, so that it is the same at every launch.
ALTER TABLE profiles
  ADD COLUMN face          JSON NULL COMMENT 'timezone, locale, system, viewport; what is missing is chosen at its first use',
  ADD COLUMN shown_version INT  NULL COMMENT 'newest major version of a browser that it has shown';
