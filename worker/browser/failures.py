"""Tell from an exception what kind of browser trouble it is, by its type and its message.

It decides nothing about retries: `execution/verdict.py` does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from worker.errors import message_of

# Chromium's words, and Firefox's; WebKit has only sentences.
_NET_ERROR = re.compile(r"net::(ERR_[A-Z0-9_]+)|\b(NS_(?:ERROR|BINDING)_[A-Z0-9_]+)")
_NO_NET = re.compile(
    r"\b(?:Could not (?:connect to|resolve host)|Connection (?:refused|terminated|reset)"
    r"|Error resolving|Cannot connect to)",
    re.IGNORECASE,
)
_DRIVER_GONE = re.compile(
    r"connection closed|Event loop is closed|reading from the driver|Broken pipe", re.IGNORECASE
)
_CRASHED = re.compile(r"(target|page|browser|renderer)( has)? crashed", re.IGNORECASE)
_CLOSED = re.compile(r"has been closed|target closed|browser closed", re.IGNORECASE)
# `expect(…)` waits as well, but raises Python's own AssertionError with a call log.
_CALL_LOG = "Call log:"
_WAITED_IN_VAIN = re.compile(r"Timeout[: ]\s{0,8}\d", re.IGNORECASE)
# Messages quote what is on the page, at any length; what we look for is near either end.
_LONGEST_MESSAGE = 20_000

_NAVIGATION = re.compile(
    r"(?:Page|Frame)\.(?:goto|reload|go_back|go_forward|wait_for_load_state|wait_for_url|"
    r"expect_navigation|set_content)\b"
)


class Kind(StrEnum):
    """What went wrong, as far as the browser is concerned."""

    TIMEOUT = "timeout"
    NETWORK = "network"
    CRASHED = "crashed"
    CLOSED = "closed"
    DRIVER_GONE = "driver gone"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The kind of trouble, and Chromium's own code for it (`ERR_CONNECTION_REFUSED`)."""

    kind: Kind
    code: str | None = None
    # Whether a page was being opened, as far as the message tells.
    is_navigation: bool = False


def classify(error: BaseException, *, page_crashed: bool = False) -> Diagnosis:
    """Name the trouble behind an exception; what is not Playwright's is OTHER.

    Once the page has crashed (`Recorder.is_page_crashed`, after `BrowserSession.hear_events`),
    whatever Playwright raises comes of that, though it may look like a timeout of the site.
    """
    whole = message_of(error)
    message = whole[:_LONGEST_MESSAGE]
    is_expectation = isinstance(error, AssertionError) and _CALL_LOG in whole
    if page_crashed and (is_expectation or isinstance(error, PlaywrightError)):
        return Diagnosis(Kind.CRASHED)
    if isinstance(error, PlaywrightTimeout):
        return Diagnosis(Kind.TIMEOUT, is_navigation=_NAVIGATION.match(message) is not None)
    if is_expectation and _has_waited_in_vain(whole):
        return Diagnosis(Kind.TIMEOUT)
    if not isinstance(error, PlaywrightError):
        return Diagnosis(Kind.OTHER)
    if found := _NET_ERROR.search(message):
        return Diagnosis(Kind.NETWORK, found.group(1) or found.group(2))
    if _DRIVER_GONE.search(message):
        return Diagnosis(Kind.DRIVER_GONE)
    if _CRASHED.search(message):
        return Diagnosis(Kind.CRASHED)
    if _CLOSED.search(message):
        return Diagnosis(Kind.CLOSED)
    if _NAVIGATION.match(message) and _NO_NET.search(message):
        return Diagnosis(Kind.NETWORK, is_navigation=True)
    return Diagnosis(Kind.OTHER)


def _has_waited_in_vain(message: str) -> bool:
    """Whether an expectation names its timeout before its call log."""
    end = message.rfind(_CALL_LOG)
    text = message[: min(end, _LONGEST_MESSAGE)] + message[max(0, end - _LONGEST_MESSAGE) : end]
    return _WAITED_IN_VAIN.search(text) is not None
