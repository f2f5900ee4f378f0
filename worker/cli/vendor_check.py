"""`launcher.py doctor`: do the vendors answer whose profiles there are?"""

from __future__ import annotations

from collections import Counter
from contextlib import closing

from worker.cli.profile_providers import vendor_of
from worker.cli.wording import counted
from worker.database.client import Database, Row
from worker.database_settings import DatabaseSettings
from worker.errors import BrowserError, NightshiftError
from worker.profiles import store
from worker.profiles.specs import spec_to_stop
from worker.profiles.states import State

# Each may take some seconds not to answer.
MOST_ADDRESSES = 5


def check(settings: DatabaseSettings) -> str:
    """Ask each vendor at each address once; raises BrowserError with the vendor's own words."""
    with closing(Database(settings)) as db:
        profiles = store.all_profiles(db)
    of_place: dict[tuple[str, str | None], Row] = {}
    places: Counter[tuple[str, str | None]] = Counter()
    for profile in profiles:
        if profile["state"] != State.DISABLED and profile["vendor_id"] is not None:
            place = (profile["provider"], profile["endpoint"])
            places[place] += 1
            of_place.setdefault(place, profile)
    if not places:
        return "no profile is a vendor's"
    said, wrong = [], []
    for place, profile in list(of_place.items())[:MOST_ADDRESSES]:
        try:
            provider = vendor_of(profile)
            if provider is not None:
                greeting = provider.greet(spec_to_stop(profile))
                said.append(f"{greeting} ({counted(places[place], 'profile')})")
        except NightshiftError as error:
            wrong.append(str(error))
    if wrong:
        raise BrowserError("; ".join(wrong))
    if (more := len(of_place) - MOST_ADDRESSES) > 0:
        said.append(f"{more} more not asked")
    return "; ".join(said)
