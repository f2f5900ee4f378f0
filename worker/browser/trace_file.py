"""Keep a recorded trace without its secrets: the file is written anew, masked, or not kept at all.

A trace holds cookies, logins, bodies and everything that was typed. Members keep their names, so
that Playwright's viewer opens the file; pictures stay as they are. Bounded in size and in time.
"""

from __future__ import annotations

import codecs
import json
import time
import zipfile
from contextlib import suppress
from pathlib import Path

from worker.browser.scratch_folder import TRACES
from worker.browser.trace_masking import mask_line, secrets_of
from worker.browser.typed_text import TypedText
from worker.evidence import known_secrets
from worker.evidence.html_secrets import mask_html
from worker.evidence.redaction import redact_whole
from worker.system.durable_file import partial_beside

# Twenty times an ordinary trace; unpacked. Masking takes about a second for ten megabytes.
MAX_BYTES = 60_000_000
MAX_SECONDS = 15.0

_LOGS = (".trace", ".network", ".stacks")
_PICTURES = (".png", ".jpeg", ".jpg", ".gif", ".webp", ".woff", ".woff2", ".ttf", ".ico", ".avif")


def raw_path(tmp_dir: Path) -> Path:
    """Where a trace is put as it was recorded: in the worker's own folder, which is wiped."""
    return tmp_dir / TRACES / "raw.zip"


def keep_masked(raw: Path, target: Path, max_seconds: float = MAX_SECONDS) -> None:
    """Write a trace as it was recorded to `target`, without its secrets; `raw` is removed.

    Raises OSError when that cannot be done; then nothing is kept.
    """
    partial = partial_beside(target)
    deadline = time.monotonic() + max_seconds
    try:
        with zipfile.ZipFile(raw) as archive, zipfile.ZipFile(partial, "w") as copy:
            _check_size(archive)
            secrets, typed = _named_in(archive, deadline)
            known_secrets.add(secrets)
            # What was typed may be an ordinary word: it is masked here and nowhere else.
            with known_secrets.also(typed):
                for member in archive.infolist():
                    content = _masked(member.filename, archive.read(member), deadline)
                    copy.writestr(member.filename, content, zipfile.ZIP_DEFLATED)
        partial.replace(target)
    except zipfile.BadZipFile as error:
        raise OSError(f"the trace was cut short ({error})") from error
    finally:
        partial.unlink(missing_ok=True)
        raw.unlink(missing_ok=True)


def _named_in(archive: zipfile.ZipFile, deadline: float) -> tuple[set[str], set[str]]:
    """Find the secrets that the trace itself names and what was typed, before any is written."""
    secrets: set[str] = set()
    typed: set[str] = set()
    for name in archive.namelist():
        if name.endswith(_LOGS):
            typing = TypedText()
            for line in archive.read(name).splitlines():
                _check_time(deadline)
                with suppress(ValueError, RecursionError):
                    event = json.loads(line)
                    typed.update(typing.of_call(event))
                    secrets.update(secrets_of(event))
            typed.update(typing.rest())
    return secrets, typed


def _check_time(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise OSError("the trace takes too long to mask: it was dropped")


def _check_size(archive: zipfile.ZipFile) -> None:
    size = sum(member.file_size for member in archive.infolist())
    if size > MAX_BYTES:
        raise OSError(f"the trace has {size / 1e6:.0f} MB, too much to mask: it was dropped")


def _masked(name: str, content: bytes, deadline: float) -> bytes:
    _check_time(deadline)
    if name.endswith(_LOGS):
        return _masked_log(content, deadline)
    if name.lower().endswith(_PICTURES):
        return content
    encoding = _encoding(content)
    text = content.decode(encoding, "replace")
    if encoding == "latin-1" and _is_binary(content):
        masked = known_secrets.mask(text)
    elif name.lower().endswith((".html", ".htm")):
        masked = mask_html(text)
    else:
        masked = redact_whole(text)
    return content if masked == text else masked.encode(encoding, "replace")


def _encoding(content: bytes) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        # Every byte is a character there, so whatever it is comes out as it went in.
        return "latin-1"
    return "utf-8"


def _masked_log(content: bytes, deadline: float) -> bytes:
    lines = []
    for line in content.splitlines():
        _check_time(deadline)
        try:
            lines.append(mask_line(line) if line.strip() else line)
        except (ValueError, RecursionError):
            # The viewer passes over what it does not know.
            lines.append(b'{"type":"masked"}')
    return b"\n".join(lines) + b"\n"


def _is_binary(content: bytes) -> bool:
    """Tell whether bytes are no text in any encoding: many of them are control characters."""
    sample = content[:4000]
    return sum(byte < 9 or 13 < byte < 32 for byte in sample) > len(sample) / 50
