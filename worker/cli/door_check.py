"""`launcher.py doctor`: does every profile say how it goes out, where there are proxies?"""

from __future__ import annotations

from contextlib import closing

from worker.browser.providers.spec import LOCAL
from worker.cli.profile_doors import doorless_lines
from worker.cli.wording import counted
from worker.database.client import Database
from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError
from worker.installation import command_line
from worker.profiles import doors, store
from worker.proxies import store as proxies
from worker.proxies.proxy import DIRECT

MOST_NAMES = 5


def check(settings: DatabaseSettings) -> str:
    """Say how everything goes out; raises SettingsError for profiles that do not say it."""
    with closing(Database(settings)) as db:
        known = {row["name"] for row in proxies.all_proxies(db)}
        profiles = store.all_profiles(db)
        doorless = doors.unchosen(db)
    if doorless:
        raise SettingsError(doorless_lines(doorless, doorless)[0])
    lost = [row["id"] for row in profiles if row["proxy"] not in (None, DIRECT, *known)]
    if lost:
        raise SettingsError(
            f"the proxy of {_listed('profile', lost)} is not there; give them another: "
            f"{command_line('profiles', 'set', lost[0])} --proxy NAME"
        )
    if not known:
        return "there are no proxies: everything goes out directly"
    said = [
        f"everything goes through {'1 proxy' if len(known) == 1 else f'{len(known):,} proxies'}"
    ]
    if direct := [row["id"] for row in profiles if row["proxy"] == DIRECT]:
        said.append(f"{_listed('profile', direct)} directly, as said")
    if foreign := [row["id"] for row in profiles if row["provider"] != LOCAL]:
        said.append(f"{_listed('profile', foreign)} as the provider's browser has it")
    return "; ".join(said)


def _listed(what: str, names: list[str]) -> str:
    more = ", …" if len(names) > MOST_NAMES else ""
    return f"{counted(len(names), what)} ({', '.join(names[:MOST_NAMES])}{more})"
