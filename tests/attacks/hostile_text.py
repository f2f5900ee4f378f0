"""What a hostile page or payload says, a database full of it, and a terminal to see it on."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.lifecycle.conftest import REPO, clean_environment
from worker.database.client import Database

# Clears the screen, sets the title, colours by a C1 control, turns the reading direction, hides a
# character, and adds a line that looks like ours. Short enough for a column of 64.
HOSTILE = "\x1b[2J\x1b]0;x\x07\x9b1m\u202e\u2066\u200b\u2028\r\nnightshift: ok\t"
OBEYED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
    "|\r(?!\n)"
)
FORGED = re.compile(r"(?m)^nightshift: ok")
# What a program means, not what it says: a stranger's text never stands there.
NAMES = {
    *("schema_migrations.*", "control.name", "outbox.event", "outbox.event_id", "proxies.scheme"),
    # No list is shown of proxies of which one has no usable host.
    "proxies.host",
    *("profiles.provider", "runs.boot_id", "runs.machine_id", "profile_events.event"),
    *("profile_events.from_state", "profile_events.to_state", "*.fingerprint"),
}


def spoil(db: Database) -> None:
    """Add the hostile text to every text of every row that a stranger may have written."""
    columns = db.run_statement(
        "SELECT table_name AS tab, column_name AS col, character_maximum_length AS width"
        " FROM information_schema.columns WHERE table_schema = DATABASE()"
        " AND data_type IN ('varchar', 'text', 'char') AND extra NOT LIKE '%GENERATED%'"
    )
    db.run_statement("SET foreign_key_checks = 0")
    for row in columns:
        names = {f"{row['tab']}.{row['col']}", f"{row['tab']}.*", f"*.{row['col']}"}
        if names.isdisjoint(NAMES):
            db.run_statement(
                f"UPDATE `{row['tab']}` SET `{row['col']}` ="
                f" LEFT(CONCAT(`{row['col']}`, %(text)s), {row['width']})",
                {"text": HOSTILE},
            )
    for table in ("work_queue", "archived_jobs"):
        db.run_statement(
            f"UPDATE {table} SET payload = %(json)s, result = IF(status = 'done', %(json)s, NULL)",
            {"json": json.dumps({"url": f"http://a/{HOSTILE}", HOSTILE: HOSTILE})},
        )


def run_on_terminal(
    folder: Path, arguments: Sequence[object], stdin: str = "", **changes: str | None
) -> tuple[int, str]:
    """Run a command whose stdout and stderr are a terminal; return its exit code and what came."""
    near, far = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "launcher.py", *map(str, arguments)],
        cwd=REPO,
        env=clean_environment(folder, **changes),
        stdin=subprocess.PIPE,
        stdout=far,
        stderr=far,
        start_new_session=True,
    )
    os.close(far)
    assert process.stdin is not None
    process.stdin.write(stdin.encode())
    process.stdin.close()
    came = b""
    try:
        while data := os.read(near, 65536):
            came += data
    except OSError:
        # How a terminal says that nobody writes to it any more.
        pass
    os.close(near)
    return process.wait(timeout=30), came.decode("utf-8", "replace")


def orders_in(text: str) -> list[str]:
    """List what a terminal would obey in a text, and lines that only look like ours."""
    return [ascii(found) for found in OBEYED.findall(text)] + FORGED.findall(text)
