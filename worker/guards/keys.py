"""Keys such as `site:example.com`, by which limits and breakers hold jobs back.

This module only makes names. Limits, breakers, proxies and profiles decide which keys are closed.
"""

from __future__ import annotations

from dataclasses import dataclass

from worker.models import Candidate

GLOBAL = "global"
# Every job that is not done in a profile goes out through a proxy, where there are any.
PROXIES = "proxies"


@dataclass(frozen=True, slots=True)
class ClosedKey:
    """A key that lets nothing through, why, and for how long (None: until a person acts)."""

    key: str
    reason: str
    seconds: float | None = None


def keys_of(candidate: Candidate) -> tuple[str, ...]:
    """Name every key that a job belongs to."""
    keys = [GLOBAL, f"task:{candidate.task}", f"queue:{candidate.queue}"]
    if candidate.site:
        keys += _with_task(f"site:{candidate.site}", candidate.task)
    if candidate.account_id:
        keys.append(f"account:{candidate.account_id}")
    if candidate.profile_id:
        keys += _with_task(f"profile:{candidate.profile_id}", candidate.task)
    else:
        keys.append(PROXIES)
        if candidate.account_id:
            keys.append(address_key(candidate.account_id))
    if candidate.order_place:
        keys.append(order_key(candidate.order_place))
    return (*keys, *route_keys(candidate))


def task_at_key(task: str, key: str) -> str:
    """Name one task at a site or in a profile, such as `task-at-site:visit@example.com`."""
    kind, _, value = key.partition(":")
    return f"task-at-{kind}:{task}@{value}"


def order_key(place: str) -> str:
    """Name the order that a job has a place in."""
    return f"order:{place}"


def address_key(account_id: str) -> str:
    """Name the proxy that an account without a profile is seen through."""
    return f"address:{account_id}"


def route_keys(candidate: Candidate) -> tuple[str, ...]:
    """Name the routes that a job depends on: its owner's, and without a profile any proxy's."""
    site = candidate.site or ""
    if candidate.profile_id:
        return (route_key("profile", candidate.profile_id, site),)
    if candidate.account_id:
        return (route_key("account", candidate.account_id, site), exit_key(site))
    return (exit_key(site),)


def exit_key(site: str) -> str:
    """Name the way to a site by whatever proxy."""
    return f"exit:{site}"


def route_key(kind: str, owner: str, site: str) -> str:
    """Name the way of a profile or an account to a site."""
    return f"route:{kind}:{owner}@{site}"


def _with_task(key: str, task: str) -> tuple[str, str]:
    return key, task_at_key(task, key)
