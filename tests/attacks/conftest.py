"""Attacks go through the real launcher, on a real database, with a real browser."""

from __future__ import annotations

from tests.lifecycle.conftest import demo_site, errors_dir, launch, tasks

__all__ = ["demo_site", "errors_dir", "launch", "tasks"]
