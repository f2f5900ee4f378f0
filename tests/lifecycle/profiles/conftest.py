"""What runs with real profiles need: a site that knows its visitors, tasks, profiles and jobs."""

from __future__ import annotations

from tests.lifecycle.test_profile_runs import add, enqueue, site, tasks

__all__ = ["add", "enqueue", "site", "tasks"]
