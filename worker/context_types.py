"""The options of a browser context as types, for authors' editors and type checkers.

`context_fields.py` checks the same when a task file is loaded, for those who use neither.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypedDict


class Size(TypedDict):
    """Of a viewport or a screen, in CSS pixels."""

    width: int
    height: int


class Place(TypedDict):
    """Where on earth."""

    latitude: float
    longitude: float


class Geolocation(Place, total=False):
    """Where a page is told that it is."""

    accuracy: float


class SecretName(TypedDict):
    """A secret by its name: see docs/tasks.md, "Secrets"."""

    secret: str


class _Login(TypedDict):
    username: str
    password: str | SecretName


class HttpCredentials(_Login, total=False):
    """What a site is answered that asks for HTTP authentication."""

    origin: str


class ContextOptions(TypedDict, total=False):
    """`@task(context=…)`: options of the browser context that a job's page is in."""

    base_url: str
    bypass_csp: bool
    color_scheme: Literal["light", "dark", "no-preference"]
    contrast: Literal["more", "no-preference"]
    device: str
    device_scale_factor: float
    extra_http_headers: dict[str, str | SecretName]
    forced_colors: Literal["active", "none"]
    geolocation: Geolocation
    has_touch: bool
    http_credentials: HttpCredentials
    ignore_https_errors: bool
    is_mobile: bool
    java_script_enabled: bool
    locale: str
    no_viewport: bool
    offline: bool
    permissions: list[str]
    reduced_motion: Literal["reduce", "no-preference"]
    screen: Size
    service_workers: Literal["allow", "block"]
    storage_state: str | Path | SecretName | dict[str, list[Any]]
    strict_selectors: bool
    timezone_id: str
    user_agent: str
    viewport: Size
