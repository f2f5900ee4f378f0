"""Whether a vendor's profile runs in somebody else's hands, before a person is given it."""

from __future__ import annotations

from pathlib import Path

from worker.browser.options import BrowserOptions
from worker.browser.providers.registry import Providers
from worker.browser.providers.vendor import VendorProvider
from worker.database.client import Database
from worker.errors import ProviderError, ProxyUnavailable, UsageError
from worker.profiles import leases, store
from worker.profiles.specs import spec_of


def refuse(db: Database, profile_id: str, state_dir: Path) -> str:
    """Refuse a vendor's profile that runs although nobody here holds it: it is somebody else's.

    Returns what to say where the vendor cannot be asked; otherwise nothing. Raises UsageError.
    """
    profile = store.get(db, profile_id)
    if leases.of_profile(db, profile_id):
        # Who holds it is said when it is asked for.
        return ""
    providers = Providers(BrowserOptions(tmp_dir=state_dir / "tmp", state_dir=state_dir))
    provider = providers.get(profile["provider"])
    if not isinstance(provider, VendorProvider):
        return ""
    try:
        standing = provider.standing(spec_of(db, profile))
    except (ProviderError, ProxyUnavailable) as error:
        # Whoever takes it may be about to give it a door, or to see what is wrong there.
        return f"{error}; so nobody knows whether the profile runs now"
    if standing in ("running", "locked"):
        how = "runs now" if standing == "running" else "is open elsewhere"
        raise UsageError(
            f"{profile['provider']} says that profile {profile_id} {how}, and nobody here holds "
            f"it: somebody else's session; close it there first; nothing was checked out"
        )
    return ""
