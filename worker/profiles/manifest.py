"""What a job says about the account environment it needs: its columns and its payload's manifest.

`{"url": …, "manifest": {"profile": "p1", "on_conflict": "reschedule", "lock_timeout": "10m"}}`
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from worker import json_text
from worker.errors import LaunchFailed, PayloadError
from worker.flags import parse_duration
from worker.models import JSON, Candidate
from worker.tasks import devices, wishes
from worker.tasks.wishes import NOTHING, Declared

# The width of the columns for profile and account.
MAX_NAME = 64
TEMPORARY_IN_ORDER = (
    "a job in a temporary profile cannot have an order key: it leaves nothing for the next to "
    "build on"
)
DECISIONS = ("wait", "reschedule", "skip", "review")
_KNOWN = (
    *("profile", "account", "proxy", "exclusive", "actions", "lock_timeout", "on_conflict"),
    *("temporary", "context", "block"),
)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The environment one job asks for; `actions` are what it is going to do there."""

    profile: str | None = None
    account: str | None = None
    proxy: str | None = None
    exclusive: bool = False
    actions: tuple[str, ...] = ()
    lock_timeout_seconds: float | None = None
    on_conflict: str = "wait"
    temporary: bool = False
    # What the job itself wishes of its browser context.
    wishes: Declared = NOTHING
    # Where the job goes, as the queue has worked it out, and its task; not fields of a payload.
    site: str = ""
    task: str = ""

    @property
    def has_owner(self) -> bool:
        """Whether the job belongs to a profile or an account, in which or by whose way it runs."""
        return self.profile is not None or self.account is not None


def read(candidate: Candidate) -> Manifest:
    """Read a job's manifest; raises PayloadError that names the field."""
    raw = _manifest_of(_parsed(candidate.payload)) if is_given(candidate.payload) else {}
    manifest = _routed(_understood(raw), candidate.profile_id, candidate.account_id)
    return replace(
        manifest,
        actions=manifest.actions or (candidate.task,),
        site=candidate.site or "",
        task=candidate.task,
    )


def check(
    payload: Mapping[str, Any], profile: str | None = None, account: str | None = None
) -> Manifest:
    """Read the manifest of a payload whose job may name its profile or account itself, too.

    Raises PayloadError for one that would not be understood.
    """
    found = _routed(_understood(_manifest_of(payload)), profile, account)
    if device := found.wishes.context.get("device"):
        with suppress(LaunchFailed):
            # Where there is no Playwright, it is looked up when the job runs.
            if problem := devices.problem_of(device):
                raise PayloadError(f"manifest.context: {problem}")
    return found


def wishes_of(payload: Mapping[str, Any]) -> Declared:
    """Read what a job's payload wishes of its browser context; raises PayloadError."""
    return _wishes(_manifest_of(payload)) if "manifest" in payload else NOTHING


def wishes_in(payload: str) -> Declared:
    """Read the same from a payload as text; raises PayloadError."""
    return _wishes(_manifest_of(_parsed(payload))) if is_given(payload) else NOTHING


def not_in_profile(profile: str) -> str:
    """Say why a job does not get the context that it wishes for."""
    return (
        f"manifest.context: the job runs in profile {profile}, whose face is its own; leave it "
        f"out, or say temporary"
    )


def is_given(payload: str) -> bool:
    """Whether a payload, as text, may hold a manifest: then it has to be read before the job runs.

    Without that a mistyped one would be ignored, and the job done in the ordinary browser.
    """
    return '"manifest"' in payload


def _routed(manifest: Manifest, profile: str | None, account: str | None) -> Manifest:
    routed = replace(
        manifest, profile=profile or manifest.profile, account=account or manifest.account
    )
    # A temporary job of an account goes out as the account does, whichever profile that is.
    has_profile = routed.profile is not None or (routed.account and not routed.temporary)
    if routed.proxy is not None and not has_profile:
        raise PayloadError(f"manifest: {needs_profile(routed.proxy)}")
    if routed.wishes.context and routed.profile is not None and not routed.temporary:
        raise PayloadError(not_in_profile(routed.profile))
    return routed


def needs_profile(proxy: str) -> str:
    """Say that a job cannot have the proxy it names, because proxies are chosen by profiles."""
    return f"proxy {proxy} needs a profile that has it"


def _parsed(payload: str) -> JSON:
    try:
        return json_text.parse(payload)
    except ValueError as error:
        raise PayloadError(f"the payload cannot be read: {error}") from error


def _manifest_of(payload: Any) -> dict[str, Any]:
    raw = payload.get("manifest") if isinstance(payload, Mapping) else None
    if raw is not None and not isinstance(raw, dict):
        example = '{"profile": "p1"}'
        raise PayloadError(f"the payload's manifest must be an object such as {example}")
    return raw or {}


def _understood(raw: dict[str, Any]) -> Manifest:
    if unknown := sorted(set(raw) - set(_KNOWN)):
        raise PayloadError(f"manifest: unknown field {unknown[0]!r}; known: {', '.join(_KNOWN)}")
    decision = raw.get("on_conflict", "wait")
    if decision not in DECISIONS:
        raise PayloadError(f"manifest.on_conflict: {decision!r}; use {', '.join(DECISIONS)}")
    actions = raw.get("actions")
    if actions is None:
        actions = []
    if not isinstance(actions, list) or not all(isinstance(item, str) for item in actions):
        raise PayloadError("manifest.actions: must be a list of names")
    return Manifest(
        profile=_text(raw, "profile"),
        account=_text(raw, "account"),
        proxy=_text(raw, "proxy"),
        exclusive=_flag(raw, "exclusive"),
        actions=tuple(actions),
        lock_timeout_seconds=_duration(raw.get("lock_timeout")),
        on_conflict=decision,
        temporary=_flag(raw, "temporary"),
        wishes=_wishes(raw),
    )


def _wishes(raw: dict[str, Any]) -> Declared:
    if "context" not in raw and "block" not in raw:
        return NOTHING
    try:
        return wishes.of_job(raw.get("context"), raw.get("block"))
    except ValueError as problem:
        raise PayloadError(f"manifest.{problem}") from None


def _text(raw: dict[str, Any], name: str) -> str | None:
    value = raw.get(name)
    if value is None:
        return None
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise PayloadError(f"manifest.{name}: must be text")
    if not 1 <= len(str(value)) <= MAX_NAME:
        raise PayloadError(f"manifest.{name}: give 1 to {MAX_NAME} characters")
    return str(value)


def _flag(raw: dict[str, Any], name: str) -> bool:
    value = raw.get(name, False)
    if not isinstance(value, bool):
        # A text such as "false" would count as true.
        raise PayloadError(f"manifest.{name}: {value!r:.40}; use true or false")
    return value


def _duration(value: Any) -> float | None:
    if value is None:
        return None
    try:
        return parse_duration(str(value))
    except ValueError as error:
        raise PayloadError(f"manifest.lock_timeout: {error}") from error
