"""Attacks go against the real thing: the launcher, its workers and their browsers."""

from __future__ import annotations

from tests.lifecycle.conftest import demo_site, errors_dir, launch

__all__ = ["demo_site", "errors_dir", "launch"]
