"""Which NIGHTSHIFT_* variables something reads: one that nothing reads is probably mistyped."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping

from worker.browser.providers.preset_file import preset_files
from worker.cli.output import tell
from worker.settings import flag_fields, variable_name

PREFIX = "NIGHTSHIFT_"
# Those that are no flag of `run`; a test finds every name in the code here.
OTHERS = frozenset(
    {
        "NIGHTSHIFT_BROWSER_BRAND",
        "NIGHTSHIFT_BROWSER_CLOSE_URL",
        "NIGHTSHIFT_BROWSER_HEADERS",
        "NIGHTSHIFT_BROWSER_HEADERS_FILE",
        "NIGHTSHIFT_BROWSER_LIVE_FIELD",
        "NIGHTSHIFT_BROWSER_LIVE_URL",
        "NIGHTSHIFT_BROWSER_SESSION_FIELD",
        "NIGHTSHIFT_BROWSER_STATUS_URL",
        "NIGHTSHIFT_BROWSER_VERSION",
        "NIGHTSHIFT_DRILL_FOLDER",
        "NIGHTSHIFT_DRILL_LEDGER",
        "NIGHTSHIFT_ENV_FILE",
        "NIGHTSHIFT_EVIDENCE_URL",
        "NIGHTSHIFT_HOST",
        "NIGHTSHIFT_MYSQLD",
        "NIGHTSHIFT_PROJECT",
        "NIGHTSHIFT_PROVIDERS_DIR",
        "NIGHTSHIFT_SECRETS_DIR",
        "NIGHTSHIFT_STATE_DIR",
        "NIGHTSHIFT_WEBHOOK_ALLOW_PRIVATE",
        "NIGHTSHIFT_WEBHOOK_SECRET",
    }
)


def warn_of_unread(environ: Mapping[str, str]) -> None:
    """Name each variable that nothing reads, with the one that was probably meant."""
    for line in unread(environ):
        tell(f"nightshift: {line}", err=True)


def unread(environ: Mapping[str, str]) -> Iterator[str]:
    """Say of each variable that nothing reads that it is so; its value is not repeated."""
    strange = sorted(name for name in environ if name.startswith(PREFIX) and name not in _ours())
    # Most often there is none, and no vendor's file has to be read.
    known = _ours() | _of_vendors() if strange else set()
    for name in strange:
        if name in known:
            continue
        near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.8)
        meant = f"; did you mean {near[0]}?" if near else ""
        yield f"warning: nothing reads the variable {name}{meant}"


def _ours() -> set[str]:
    return set(OTHERS) | {variable_name(each) for each in flag_fields()}


def _of_vendors() -> set[str]:
    texts = (path.read_text("utf-8", "replace") for path in preset_files().values())
    return {name for text in texts for name in re.findall(rf"{PREFIX}\w+", text)}
