"""Keys such as `site:example.com`, by which limits and breakers hold jobs back.

This module only makes names. Limits, breakers, proxies and profiles decide which keys are closed.
"""

from __future__ import annotations

from dataclasses import dataclass

from worker.models import Candidate

GLOBAL = "global"
# Every page that is not a profile's goes out through a proxy, where there are any.
PROXIES = "proxies"


@dataclass(frozen=True, slots=True)
class ClosedKey:
    """A key that lets nothing through, why, and for how long (None: until a person acts)."""

    key: str
    reason: str
    seconds: float | None = None


def keys_of(candidate: Candidate, *, has_page: bool = True) -> tuple[str, ...]:
    """Name every key that a job belongs to; without a page it needs none of the proxies."""
    keys = [GLOBAL, f"task:{candidate.task}", f"queue:{candidate.queue}"]
    if candidate.site:
        keys += _with_task(f"site:{candidate.site}", candidate.task)
    if candidate.account_id:
        keys.append(f"account:{candidate.account_id}")
    if candidate.profile_id:
        keys += _with_task(f"profile:{candidate.profile_id}", candidate.task)
    elif has_page:
        keys += _proxy_keys(candidate)
    if candidate.order_place:
        keys.append(order_key(candidate.order_place))
    return (*keys, *_own_routes(candidate))


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


def exit_key(site: str) -> str:
    """Name the way to a site by whatever proxy."""
    return f"exit:{site}"


def route_key(kind: str, owner: str, site: str) -> str:
    """Name the way of a profile or an account to a site."""
    return f"route:{kind}:{owner}@{site}"


def _proxy_keys(candidate: Candidate) -> list[str]:
    keys = [PROXIES, exit_key(candidate.site or "")]
    return [*keys, address_key(candidate.account_id)] if candidate.account_id else keys


def _own_routes(candidate: Candidate) -> tuple[str, ...]:
    """Name the way to its site by its owner's own proxy."""
    site = candidate.site or ""
    if candidate.profile_id:
        return (route_key("profile", candidate.profile_id, site),)
    return (route_key("account", candidate.account_id, site),) if candidate.account_id else ()


def _with_task(key: str, task: str) -> tuple[str, str]:
    return key, task_at_key(task, key)
