"""What a dashboard is made with: read once, frozen, passed to `create_app`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from ipaddress import ip_address
from pathlib import Path

from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError

PORT = 8642
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True)
class DashboardConfig:
    """Everything that the pages need to know of the outside."""

    database: DatabaseSettings
    errors_dir: Path
    users_file: Path
    state_dir: Path
    # Names by which browsers may ask for it, without the port.
    hosts: tuple[str, ...] = LOOPBACK_NAMES
    reports_dir: Path | None = None
    zone: tzinfo = UTC
    zone_name: str = "UTC"
    # Longer than this no statement may take.
    statement_seconds: float = 3.0
    # Whether it is reached by https, through a proxy in front of it.
    is_https: bool = False
    # Whether others than this machine can reach it: then nobody gets in without signing in.
    is_shared: bool = False
    # The address of the proxy in front of it, whose word on who asks is taken.
    trusted_proxy: str = ""
    version: str = ""
    # How many sign-ins may fail within `sign_in_window_seconds`, by name and by address.
    sign_ins: int = 5
    sign_in_window_seconds: float = 60.0
    test_settings: dict[str, object] = field(default_factory=dict)


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def allowed_hosts(host: str, more: tuple[str, ...]) -> tuple[str, ...]:
    """List the names by which browsers may ask; raises SettingsError where one must be given."""
    if is_loopback(host):
        return tuple(dict.fromkeys((*LOOPBACK_NAMES, *more)))
    everywhere = host in ("0.0.0.0", "::", "[::]")  # noqa: S104 - it is compared, not bound
    if everywhere and not more:
        raise SettingsError(
            f"--host {host} listens everywhere: say by which names browsers may ask for it, "
            f"such as --allow-host night-1.example.com"
        )
    own = () if everywhere else (f"[{host.strip('[]')}]" if ":" in host else host,)
    return tuple(dict.fromkeys((*own, *more, *LOOPBACK_NAMES)))


def needs_people(host: str, more: tuple[str, ...], *, is_https: bool, proxy: str) -> str:
    """Tell which setting lets others than this machine reach it; empty when none does."""
    if not is_loopback(host):
        return f"--host {host}"
    if is_https:
        return "--https"
    if proxy:
        return f"--trusted-proxy {proxy}"
    names = [name for name in more if not is_loopback(name)]
    return f"--allow-host {names[0]}" if names else ""


def checked_proxy(address: str) -> str:
    """Read the address of a proxy; raises SettingsError for a name or a network."""
    try:
        return str(ip_address(address.strip("[]"))) if address else ""
    except ValueError:
        raise SettingsError(
            f"--trusted-proxy {address} is not an address; give the proxy's own, such as 127.0.0.1"
        ) from None
