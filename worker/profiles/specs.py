"""Turn a profile's row into what its provider needs to open it, with its proxy's credentials."""

from __future__ import annotations

import json
from pathlib import Path

from worker.browser.providers.spec import ProfileSpec
from worker.database.client import Database, Row
from worker.proxies import store as proxies


def spec_of(db: Database, profile: Row) -> ProfileSpec:
    """Describe a profile to its provider."""
    options = json.loads(profile["options"]) if profile["options"] else {}
    return ProfileSpec(
        profile_id=profile["id"],
        provider=profile["provider"],
        folder=Path(profile["folder"]) if profile["folder"] else None,
        vendor_id=profile["vendor_id"],
        endpoint=profile["endpoint"],
        proxy=proxies.named(db, (profile["proxy"],))[0] if profile["proxy"] else None,
        region=profile["region"],
        options=options,
    )
