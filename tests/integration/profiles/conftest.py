"""Profiles, jobs that want them, and two workers at the gate."""

from __future__ import annotations

from tests.integration.profile_fixtures import add, enqueue, other, worker

__all__ = ["add", "enqueue", "other", "worker"]
