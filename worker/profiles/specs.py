"""Turn a profile's row into what its provider needs to open it, with its proxy's credentials."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from worker.browser.providers.spec import ProfileSpec
from worker.database.client import Database, Row
from worker.errors import ProxyUnavailable
from worker.profiles import doors


def spec_of(db: Database, profile: Row) -> ProfileSpec:
    """Describe a profile to whoever opens it; raises ProxyUnavailable if it has no door now."""
    door = doors.of_profile(db, profile)
    if door.reason:
        raise ProxyUnavailable(door.reason, after=door.seconds)
    return replace(spec_to_stop(profile), proxy=door.proxy)


def spec_to_stop(profile: Row) -> ProfileSpec:
    """Describe a profile to whoever stops it: no proxy is needed for that."""
    options = json.loads(profile["options"]) if profile["options"] else {}
    return ProfileSpec(
        profile_id=profile["id"],
        provider=profile["provider"],
        folder=Path(profile["folder"]) if profile["folder"] else None,
        vendor_id=profile["vendor_id"],
        endpoint=profile["endpoint"],
        region=profile["region"],
        options=options,
        session=profile["vendor_session"],
    )
