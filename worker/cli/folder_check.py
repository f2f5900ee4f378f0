"""`launcher.py doctor`: does every local profile of this host have a folder of its own?"""

from __future__ import annotations

from contextlib import closing

from worker.database.client import Database
from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError
from worker.profiles import own_folder


def check(settings: DatabaseSettings) -> str:
    """Say that no two profiles share a folder; raises SettingsError that names those that do."""
    with closing(Database(settings)) as db:
        found = own_folder.problems(db)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise SettingsError(f"{found[0]}{more}")
    return "every local profile has a folder of its own"
