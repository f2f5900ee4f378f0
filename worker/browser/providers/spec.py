"""What must be known of a profile to open its browser; nothing of it comes from a database here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from worker.browser.face import Face
from worker.proxies.proxy import Proxy

LOCAL = "local"
CDP = "cdp"


@dataclass(frozen=True, slots=True)
class ProfileSpec:
    """One profile and its provider: "local", "cdp", or the name of a vendor's preset.

    `folder` is a local profile's own, `vendor_id` the vendor's name for a profile. `endpoint` is
    where a cdp profile listens; for a vendor it replaces the address of its API. `options` are the
    vendor's own, such as Multilogin's `folder_id`.
    """

    profile_id: int | str
    provider: str
    folder: Path | None = None
    vendor_id: str | None = None
    # An endpoint may carry a vendor's token, so it is not shown.
    endpoint: str | None = field(default=None, repr=False)
    proxy: Proxy | None = None
    region: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    # What sites see of a local profile; a vendor's or another's browser has its own.
    face: Face | None = None
    # The session that a vendor has started for it and that nobody has stopped yet, if the vendor
    # stops browsers by such a name. Whoever starts one keeps it, or raises: it outlives the worker.
    session: str | None = field(default=None, repr=False)
    keep_session: Callable[[str], None] = field(default=lambda _: None, repr=False, compare=False)
    # Forgets it when it is stopped; never raises.
    forget_session: Callable[[], None] = field(default=lambda: None, repr=False, compare=False)

    def __str__(self) -> str:
        return f"profile {self.profile_id} ({self.provider})"
