"""Profiles, and jobs that want them."""

from __future__ import annotations

from tests.integration.profile_fixtures import add, enqueue

__all__ = ["add", "enqueue"]
