"""Whom to tell: the values of `--notify` as URLs, without a secret on the command line.

A value is a URL that Apprise understands, `env:NAME` (a variable that holds URLs) or `file:PATH`
(a file that does, one a line). Whatever in a URL may be a secret is masked from then on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, MutableMapping
from urllib.parse import unquote

from worker.errors import SettingsError
from worker.evidence import known_secrets
from worker.references import is_reference, urls_of
from worker.urls import notify_url_problem

VARIABLE = "NIGHTSHIFT_NOTIFY"
# These hold no secret unless there is a login in them.
_PLAIN_SCHEMES = frozenset({"json", "jsons", "xml", "xmls", "form", "forms", "syslog", "mailto"})
_BREAKS = re.compile(r"[/?&=@:#,+;]+")
# A shorter part of a URL may be any word, and so may one without digits.
MIN_PART, CERTAIN_PART = 8, 20
_LABEL = re.compile(r"[\w-]+")


def resolve(values: Iterable[str], environ: MutableMapping[str, str]) -> tuple[str, ...]:
    """Replace references by the URLs they stand for; raises SettingsError for an empty one.

    What held them is taken out of the environment, so that no worker or browser inherits it.
    """
    urls = tuple(url for value in values for url in urls_of(value, environ, "--notify"))
    environ.pop(VARIABLE, None)
    known_secrets.keep(part for url in urls for part in secrets_in(url))
    for url in urls:
        if problem := notify_url_problem((url,)):
            raise SettingsError(f"--notify: {problem}")
    return urls


def name_of(url: str, number: int) -> str:
    """Name a target without its secrets: `target 2 (slack)`."""
    return f"target {number} ({scheme_of(url)})"


def scheme_of(url: str) -> str:
    """Return what is before `://`: which service it is."""
    return url.partition("://")[0].lower()


def is_secret(value: str) -> bool:
    """Tell whether a value should not be on a command line, where other users can read it."""
    return not is_reference(value) and (scheme_of(value) not in _PLAIN_SCHEMES or "@" in value)


def secrets_in(url: str) -> Iterator[str]:
    """Find what in a URL may be a secret: the whole of it, passwords, and whatever looks random."""
    yield url
    rest = url.partition("://")[2]
    login, at, host = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")
    password = (login if at else host).partition(":")[2]
    # Without a login, what is behind the colon is a port, or some services' token.
    if password and (at or not password.isdecimal()):
        yield unquote(password)
    for part in _BREAKS.split(rest):
        has_both = re.search(r"\d", part) and re.search(r"[A-Za-z]", part)
        is_random = len(part) >= CERTAIN_PART or (len(part) >= MIN_PART and has_both)
        if is_random and not _is_host(part):
            yield from {part, unquote(part)}


def _is_host(text: str) -> bool:
    return "." in text and all(map(_LABEL.fullmatch, text.split(".")))
