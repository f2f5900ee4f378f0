"""One line of a Playwright trace without its secrets: what was typed, headers, cookies, bodies.

A trace is lines of JSON: calls with their arguments, snapshots of the page, requests. Its shape
stays as it is, so that Playwright's viewer can open it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from worker.browser.typed_text import KEYS, TEXT_OF_CALL, single_key
from worker.evidence.html_secrets import is_secret_field, mask_html
from worker.evidence.known_secrets import MASK
from worker.evidence.redaction import redact_whole
from worker.evidence.secret_names import SECRET_HEADERS, is_secret_name

# How the recorder writes what stands in a field now.
_SNAPSHOT_VALUE = "__playwright_value_"
_FIELD_VALUES = ("value", "content", _SNAPSHOT_VALUE)
_TYPED = frozenset(TEXT_OF_CALL.values())
# What a call gets that is secret by its nature, whatever it is named.
_ALL_SECRET = frozenset({"cookies", "httpCredentials", "clientCertificates", "storageState"})
# What Playwright's viewer goes by; a word that was typed may equal it.
_NEVER_TOUCHED = frozenset(
    {
        "_sha1", "sha1", "file", "callId", "pageId", "frameId", "type", "class", "method",
        "snapshotName", "beforeSnapshot", "inputSnapshot", "afterSnapshot", "stepId", "parentId",
        "pageref", "browserName",
    }
)  # fmt: skip
MAX_DEPTH = 400
# A cookie's value that is shorter may be any word.
MIN_WORD = 8


def mask_line(line: bytes) -> bytes:
    """Mask one line of a trace; raises ValueError when it is not JSON."""
    event = json.loads(line)
    if isinstance(event, dict) and event.get("type") == "frame-snapshot":
        masked: Any = _snapshot(event)
    elif isinstance(event, dict) and "params" in event:
        masked = {**_any(event), "params": _params(event)}
    else:
        masked = _any(event)
    return json.dumps(masked, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def secrets_of(value: Any, depth: int = 0) -> Iterator[str]:
    """Find the secrets that a line names, since they may stand elsewhere without a name.

    That are logins, cookies, and what stands in password fields.
    """
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        yield from _of_headers(value)
        inner = value.values()
    elif isinstance(value, list):
        if len(value) > 1 and isinstance(value[1], dict) and _is_password(value[1]):
            yield from (str(value[1].get(name, "")) for name in _FIELD_VALUES)
        inner = value
    if depth < MAX_DEPTH:
        for each in inner:
            yield from secrets_of(each, depth + 1)


def _of_headers(value: dict[str, Any]) -> Iterator[str]:
    if _is_pair(value) and value["name"].lower() in SECRET_HEADERS:
        yield from _words(value["value"])
    cookies = value.get("cookies")
    for cookie in cookies if isinstance(cookies, list) else ():
        if isinstance(cookie, dict):
            yield from _words(str(cookie.get("value", "")))


def _words(header: str) -> Iterator[str]:
    """Split `a=1; b=2` and `Bearer x` into what may be a secret by itself."""
    for part in header.split(";"):
        word = part.partition("=")[2] or part.rpartition(" ")[2]
        if len(word) >= MIN_WORD:
            yield word.strip()


def _is_password(attributes: dict[str, Any]) -> bool:
    return str(attributes.get("type", "")).lower() == "password"


def _params(event: dict[str, Any]) -> Any:
    params = _any(event["params"])
    method = str(event.get("method"))
    if isinstance(params, dict) and (method in TEXT_OF_CALL or method in KEYS):
        typed = {name: MASK for name in _TYPED if params.get(name)}
        # A single character is a piece of a text; a key with a name is none.
        if single_key(params.get("key")):
            typed["key"] = MASK
        return {**params, **typed}
    return params


def _any(value: Any, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        return MASK
    if isinstance(value, dict):
        if _is_pair(value) and (value["name"].lower() in SECRET_HEADERS or _is_named(value)):
            return {**value, "value": MASK if value["value"] else value["value"]}
        return {name: _field(name, inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, list):
        return [_any(inner, depth + 1) for inner in value]
    return redact_whole(value) if isinstance(value, str) else value


def _field(name: str, value: Any, depth: int) -> Any:
    if name in _NEVER_TOUCHED and isinstance(value, str):
        return value
    if name == "html" and isinstance(value, str):
        return mask_html(value)
    if name in _ALL_SECRET:
        return _emptied(value, depth)
    if value and isinstance(value, str | int) and is_secret_name(name):
        # Flags such as `bypassCSP` and hashes are none; a key of the keyboard is judged above.
        return value if isinstance(value, bool) or name == "key" else MASK
    return _any(value, depth)


def _emptied(value: Any, depth: int) -> Any:
    """Keep the shape of something secret, and the names in it."""
    if depth > MAX_DEPTH:
        return MASK
    if isinstance(value, dict):
        kept = ("name", "domain", "path", "origin", "sameSite", "expires")
        return {
            name: inner if name in kept else _emptied(inner, depth + 1)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_emptied(inner, depth + 1) for inner in value]
    return MASK if isinstance(value, str) and value else value


def _is_pair(value: dict[str, Any]) -> bool:
    return isinstance(value.get("name"), str) and isinstance(value.get("value"), str)


def _is_named(value: dict[str, Any]) -> bool:
    return is_secret_name(value["name"])


def _snapshot(event: dict[str, Any]) -> dict[str, Any]:
    snapshot = event.get("snapshot")
    if not isinstance(snapshot, dict):
        return {"type": event["type"]}
    masked = {name: _any(inner) for name, inner in snapshot.items() if name != "html"}
    if "html" in snapshot:
        masked["html"] = _node(snapshot["html"])
    return {**event, "snapshot": {name: masked[name] for name in snapshot}}


def _node(node: Any, depth: int = 0) -> Any:
    """Mask a node of a snapshot: a text, a reference, or [name, attributes, children…]."""
    if isinstance(node, str):
        return redact_whole(node)
    if not isinstance(node, list) or not node or not isinstance(node[0], str):
        return node
    if depth > MAX_DEPTH:
        return [node[0]]
    name, *rest = node
    if rest and isinstance(rest[0], dict):
        rest[0] = _attributes(rest[0])
    return [name, *(_node(child, depth + 1) if i else child for i, child in enumerate(rest))]


def _attributes(attributes: dict[str, Any]) -> dict[str, Any]:
    texts = {name.lower(): value for name, value in attributes.items() if isinstance(value, str)}
    # What stands in a field now may have been typed, and be only a piece of it as yet.
    masked = _FIELD_VALUES if is_secret_field(texts) else (_SNAPSHOT_VALUE,)
    return {
        name: MASK
        if value and name.lower() in masked
        else (redact_whole(value) if isinstance(value, str) else value)
        for name, value in attributes.items()
    }
