"""Send a notice to everybody who is to be told, through Apprise (the extra `[notify]`).

Runs in a child that may be killed at any time. It says how each target took it, never with a URL.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from worker.errors import SettingsError
from worker.evidence.redaction import redact_text
from worker.notices.messages import Notice
from worker.notices.targets import name_of
from worker.reporting.night.words import clean

if TYPE_CHECKING:
    from apprise import Apprise

MISSING = (
    "--notify needs Apprise: pip install 'nightshift[notify]' (in a checkout: make setup), "
    "or leave --notify and NIGHTSHIFT_NOTIFY out"
)


def require() -> None:
    """Raise SettingsError with what to install, if Apprise is not there."""
    if importlib.util.find_spec("apprise") is None:
        raise SettingsError(MISSING)


def check(urls: Sequence[str]) -> None:
    """Raise SettingsError if Apprise does not understand one of the URLs."""
    if not urls:
        return
    require()
    with _Words():
        for number, url in enumerate(urls, 1):
            if _apprise(url) is None:
                raise SettingsError(
                    f"--notify: Apprise does not understand {name_of(url, number)}; "
                    f"try it: python launcher.py notify --test"
                )


def send(urls: Sequence[str], notice: Notice) -> Iterator[tuple[str, str | None]]:
    """Send to one target after the other; yield each one's name and trouble, None for none."""
    for number, url in enumerate(urls, 1):
        yield name_of(url, number), _send(url, notice)


def _send(url: str, notice: Notice) -> str | None:
    with _Words() as words:
        service = _apprise(url)
        if service is None:
            return words.last or "Apprise does not understand its URL"
        if notice.picture is not None and _take(service, notice, str(notice.picture)):
            return None
        # Some take no pictures, or none of this size: the words matter more.
        return None if _take(service, notice, None) else words.last or "it was not taken"


def _apprise(url: str) -> Apprise | None:
    # Here, not above: it takes a second to load, and only those need it who are told something.
    from apprise import Apprise, AppriseAsset

    # One after the other, without threads of its own.
    service = Apprise(asset=AppriseAsset(async_mode=False, secure_logging=True))
    return service if service.add(url) and len(service) == 1 else None


def _take(service: Apprise, notice: Notice, picture: str | None) -> bool:
    return bool(
        service.notify(
            body=notice.body,
            title=notice.title,
            notify_type=notice.kind,
            body_format="text",
            attach=picture,
        )
    )


class _Words(logging.Handler):
    """What Apprise logs meanwhile: kept instead of shown, because it may name URLs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = ""
        self._logger = logging.getLogger("apprise")

    def emit(self, record: logging.LogRecord) -> None:
        self.last = clean(redact_text(record.getMessage()), 200)

    def __enter__(self) -> _Words:
        self._logger.addHandler(self)
        self._logger.propagate = False
        return self

    def __exit__(self, *_exception: object) -> None:
        self._logger.removeHandler(self)
