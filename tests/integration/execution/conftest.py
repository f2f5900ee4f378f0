"""Profiles, jobs that want them, and a worker at the gate."""

from __future__ import annotations

from tests.integration.profile_fixtures import add, enqueue, worker

__all__ = ["add", "enqueue", "worker"]
