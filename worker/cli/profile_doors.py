"""Say how profiles go out, and which of them have not said it although there are proxies."""

from __future__ import annotations

from worker.browser.providers.spec import LOCAL
from worker.cli.wording import counted
from worker.database.client import Row
from worker.profiles.doors import not_chosen
from worker.profiles.proxy_changes import Reviews
from worker.proxies.proxy import DIRECT

MOST_NAMES = 5


def way_out(profile: Row) -> str:
    """Say by which proxy a profile goes out, and who sees to that."""
    name = profile["proxy"]
    if name is None:
        return "– (it does not say)"
    said = "none: it goes out directly" if name == DIRECT else name
    if profile["provider"] == LOCAL:
        return said
    return f"{said} (its browser is not ours: set the same in {profile['provider']})"


def doorless_lines(ids: list[str], doorless: list[str]) -> list[str]:
    """Say which of these profiles no job runs in, because they say nothing of a proxy."""
    found = [profile_id for profile_id in ids if profile_id in set(doorless)]
    if not found:
        return []
    if len(found) == 1:
        return [f"there are proxies, and {not_chosen(found[0])}"]
    more = ", …" if len(found) > MOST_NAMES else ""
    return [
        f"there are proxies, and {counted(len(found), 'profile')} "
        f"({', '.join(found[:MOST_NAMES])}{more}) are not ready, because they say neither which "
        f"proxy they use nor that they go out directly; for each: "
        f"launcher.py profiles set ID --proxy NAME (or none)"
    ]


def change_lines(reviews: Reviews) -> list[str]:
    """Say which proxies are others than before, and which profiles wait for a review therefore."""
    return [
        f"proxy {proxy} is another than before ({difference})"
        + (f"; up for review: {', '.join(profiles)}" if profiles else "")
        for proxy, (difference, profiles) in reviews.found.items()
    ]
