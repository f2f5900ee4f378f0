"""Sessions at a service: what is known of one, and how it is ended, by us or by who comes after us.

Most services end a session with its connection. Where one needs a call (a URL for it, or a
function's own `close`), each open session is noted in a file under its worker's process, without
any secret; whoever finds the file of a dead process makes the call.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from worker.browser.elsewhere.config import Elsewhere
from worker.browser.elsewhere.endpoints import SESSION
from worker.browser.elsewhere.places import Place, find_function, in_a_thread
from worker.errors import NightshiftError, message_of
from worker.evidence.redaction import redact_text
from worker.system.process_tree import ProcessId, identify, is_alive

FOLDER = "browser-sessions"
CALL_SECONDS, CONNECT_SECONDS = 10.0, 4.0
# A session that could not be ended in this time has ended by itself, or never will.
MAX_AGE_SECONDS = 86_400.0
# How long to leave a session alone that could not be ended.
PAUSE_SECONDS = 60.0
MAX_ANSWER = 1_000_000
# The process of notes that belong to nobody any more.
NOBODY = 0
_GONE = (404, 409, 410)
_METHODS = ("DELETE", "POST", "PUT", "GET", "PATCH")

logger = logging.getLogger("nightshift.worker")


def described(place: Place, elsewhere: Elsewhere) -> Place:
    """Return a place with its session's id and live view; never raises."""
    session, live, service = place.session, place.live_url, elsewhere.service
    if service.status_url:
        answer = _status(place, elsewhere)
        session = _at(answer, service.session_field) or session
        live = (_at(answer, service.live_field) if service.live_field else None) or live
    if service.live_url and session is not None:
        live = live or _filled(service.live_url, session)
    return Place(place.speech, place.url, place.headers, session, live)


def is_to_be_closed(elsewhere: Elsewhere, number: int) -> bool:
    """Whether a session at an endpoint needs a call to end."""
    if elsewhere.service.close_url:
        return True
    endpoint = elsewhere.endpoints[number]
    return endpoint.is_function and callable(getattr(find_function(endpoint), "close", None))


class Notes:
    """The notes of open sessions, one file each, in a folder that all workers here share."""

    def __init__(self, elsewhere: Elsewhere, state_dir: Path) -> None:
        self._elsewhere = elsewhere
        self._folder = state_dir / FOLDER

    def keep(self, number: int, session: str) -> Path | None:
        """Note a session that has to be ended by a call; None when it cannot be noted."""
        path = self._own_path()
        note = {"session": session, "endpoint": self._elsewhere.endpoints[number].label}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(note), encoding="utf-8")
        except OSError as error:
            logger.warning("an open session of a browser is not noted: %s", error)
            return None
        return path

    def drop(self, note: Path, *, is_closed: bool) -> None:
        """Forget a session that is closed; leave one that is not to whoever looks next."""
        try:
            if is_closed:
                note.unlink(missing_ok=True)
            else:
                note.rename(note.with_name(f"{NOBODY}-0-{time.monotonic_ns()}.json"))
        except OSError as error:
            logger.warning("the note of a browser's session is left: %s", error)

    def close_left(self) -> int:
        """End the sessions of dead processes; return how many were ended. Never raises."""
        return sum(self._close_left(path) for path in list(self._left()))

    def _own_path(self) -> Path:
        own = identify(os.getpid())
        assert own is not None
        return self._folder / f"{own.pid}-{own.start_time}-{time.monotonic_ns()}.json"

    def _left(self) -> Iterator[Path]:
        for path in sorted(self._folder.glob("*-*-*.json")):
            pid, started, noted_at = map(int, path.stem.split("-"))
            is_tried = pid == NOBODY and abs(time.monotonic_ns() - noted_at) < PAUSE_SECONDS * 1e9
            if not is_tried and not is_alive(ProcessId(pid, started)):
                yield path

    def _close_left(self, path: Path) -> bool:
        own = self._own_path()
        try:
            # Whoever renames it makes the call; if we die over it, it is left by us.
            path.rename(own)
            is_old = time.time() - own.stat().st_mtime > MAX_AGE_SECONDS
            note = json.loads(own.read_text(encoding="utf-8"))
            number = self._number_of(str(note["endpoint"]))
        except OSError:
            return False
        except (ValueError, KeyError, TypeError):
            own.unlink(missing_ok=True)
            return False
        is_ended = number is not None and close(self._elsewhere, number, str(note["session"]))
        self.drop(own, is_closed=is_ended or is_old)
        return is_ended

    def _number_of(self, label: str) -> int | None:
        labels = [endpoint.label for endpoint in self._elsewhere.endpoints]
        return labels.index(label) if label in labels else None


def close(elsewhere: Elsewhere, number: int, session: str) -> bool:
    """Tell the service that a session is over; False, with a line in the log, if that failed."""
    endpoint = elsewhere.endpoints[number]
    try:
        if endpoint.is_function and (own := getattr(find_function(endpoint), "close", None)):
            in_a_thread(lambda: own(session) or True, CALL_SECONDS)
            return True
        if not elsewhere.service.close_url:
            return True
        method, url = _request(elsewhere.service.close_url)
        status, _ = _call(method, _filled(url, session), elsewhere.headers.read())
        if status < 400 or status in _GONE:
            return True
        why = f"HTTP {status}"
    except BaseException as error:  # noqa: BLE001 - a stranger's code, or a network's.
        why = redact_text(message_of(error))[:200]
    logger.warning("session %s at %s was not closed: %s", session, endpoint, why)
    return False


def _status(place: Place, elsewhere: Elsewhere) -> object:
    # Few runs need it, and its import takes 40 ms, for which every worker would wait.
    import httpx

    url = _filled(elsewhere.service.status_url, place.session or "")
    try:
        status, text = _call("GET", url, place.headers)
        if status >= 400:
            raise NightshiftError(f"HTTP {status}")
        found: object = json.loads(text)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, NightshiftError) as error:
        why = redact_text(message_of(error))[:200]
        logger.warning("the session at %s is not known by its service: %s", place.label, why)
        return None
    return found


def _call(method: str, url: str, headers: dict[str, str]) -> tuple[int, str]:
    import httpx

    logging.getLogger("httpx").setLevel(logging.WARNING)
    with (
        httpx.Client(timeout=httpx.Timeout(CALL_SECONDS, connect=CONNECT_SECONDS)) as client,
        client.stream(method, url, headers=headers) as answer,
    ):
        body = b""
        for piece in answer.iter_bytes():
            body += piece
            if len(body) > MAX_ANSWER:
                break
        return answer.status_code, body.decode("utf-8", "replace")


def _request(text: str) -> tuple[str, str]:
    """Read `POST https://…`; an address alone is deleted."""
    method, _, url = text.strip().partition(" ")
    return (method.upper(), url.strip()) if method.upper() in _METHODS else ("DELETE", text.strip())


def _filled(template: str, session: str) -> str:
    return template.replace(SESSION, quote(session, safe=""))


def _at(found: object, path: str) -> str | None:
    """What stands at a path such as `data.sessions.0.id`, as a text; None when nothing does."""
    for name in path.split("."):
        if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, dict):
            found = found.get(name)
        else:
            return None
    return str(found) if isinstance(found, str | int) and str(found) else None
