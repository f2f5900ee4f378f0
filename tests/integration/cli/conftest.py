"""What commands about profiles need: the command line, profiles, and a worker at the gate."""

from __future__ import annotations

from tests.integration.profile_cli import cli
from tests.integration.profile_fixtures import add, worker

__all__ = ["add", "cli", "worker"]
