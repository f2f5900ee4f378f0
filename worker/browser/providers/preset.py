"""A vendor's HTTP API as data: what to send, and how to read what comes back.

One TOML file describes one vendor: docs/providers.md explains its fields, preset_file.py reads it.
Holds no secret: credentials are named by the environment variables they come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from worker.browser.providers.answer import Condition, Mark

START_SECONDS = 90.0
# The profile's option that says what becomes of it if it runs already.
IF_RUNNING = "if_running"
# The mark of what a vendor never says.
NEVER = Mark()


class IfRunning(StrEnum):
    """What becomes of a profile that runs already when a job wants it."""

    RESTART = "restart"
    ADOPT = "adopt"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Variant:
    """What a request has instead, or besides, when the profile has a certain option."""

    path: str | None = None
    json: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """One request; `{name}` in path, body and headers is filled in when it is sent."""

    method: str
    path: str
    json: Mapping[str, Any] | None = None
    success: Condition | None = None
    # By the name of an option of the profile.
    when: Mapping[str, Variant] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SignIn:
    """The request that logs in, which may go to another address than the rest.

    `keep` says which values of its answer later requests use, such as `{token}`; none, if the
    vendor's program remembers who has logged in. `then` follows if all that it uses is known.
    """

    request: Request
    base_url: str | None = None
    url_variable: str | None = None
    keep: Mapping[str, str] = field(default_factory=dict)
    # Whether nothing works without; else it is left out where its variables are not set.
    is_required: bool = True
    then: SignIn | None = None


@dataclass(frozen=True, slots=True)
class StatusCall:
    """The request that tells how a profile stands now."""

    request: Request
    running: Condition
    # Open elsewhere: another machine's or a teammate's.
    locked: Condition | None = None


@dataclass(frozen=True, slots=True)
class FindCall:
    """The request that lists sessions, and where in its answer one of the profile's own is."""

    request: Request
    session_path: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What a preset was compared with, and which of it only other people's clients tell."""

    against: str = ""
    third_party: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preset:
    """Everything about one vendor."""

    name: str
    title: str
    base_url: str
    url_variable: str
    start: Request
    stop: Request
    file: Path | None = None
    already_running: Mark = NEVER
    locked: Mark = NEVER
    preparing: Mark = NEVER
    not_running: Mark = NEVER
    throttled: Mark = NEVER
    status: StatusCall | None = None
    find: FindCall | None = None
    sign_in: SignIn | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    endpoint_paths: tuple[str, ...] = ()
    endpoint_template: str | None = None
    # What `{connect}` in the template is, where browsers are not where the API is.
    endpoint_base_url: str = ""
    endpoint_url_variable: str = ""
    # Other hosts than the API's where a browser may be: `connect.example` or `*.example`.
    endpoint_hosts: tuple[str, ...] = ()
    message_paths: tuple[str, ...] = ()
    # Where in the start's answer the id is by which the browser is stopped, if not the profile's.
    session_path: str | None = None
    # A start of a running profile answers like any start, and gives what runs.
    start_adopts: bool = False
    start_seconds: float = START_SECONDS
    min_interval_seconds: float = 0.0
    one_at_a_time: bool = False
    restart_pause_seconds: float = 0.0
    checked: Checked = Checked()

    @property
    def if_running(self) -> IfRunning:
        """What becomes of a profile that runs already and says nothing of that."""
        return IfRunning.ADOPT if self.start_adopts else IfRunning.RESTART
