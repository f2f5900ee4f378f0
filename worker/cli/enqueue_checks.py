"""What `enqueue` refuses before it reads a line: a time that has passed, a stranger's account."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from worker.database.client import Database
from worker.errors import UsageError
from worker.flags import parse_duration
from worker.profiles import store


def earliest_start(text: str | None) -> datetime | None:
    """Read `--not-before`, a duration or a time; one that has passed is refused."""
    if text is None:
        return None
    now = datetime.now().astimezone()
    try:
        moment = now + timedelta(seconds=parse_duration(text))
    except (ValueError, OverflowError):
        try:
            moment = datetime.fromisoformat(text).astimezone()
        except (ValueError, OverflowError):
            raise UsageError(
                f"--not-before {text} is neither a duration (2h) nor a time (2026-01-31T18:00)"
            ) from None
    if moment < now:
        raise UsageError(f"--not-before {text} is in the past; leave it out to start at once")
    return moment.astimezone(UTC).replace(tzinfo=None)


def check_route(db: Database, profile: str | None, account: str | None) -> None:
    """Refuse a profile or an account that there is none of; templates are filled in later."""
    if profile and "{" not in profile:
        store.get(db, profile.strip())
    if account and "{" not in account:
        store.check_account(db, account.strip())
