"""Commands that people copy hold nothing that a shell obeys, whatever names strangers gave."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pytest

from tests.dashboard_pages import PAGES
from tests.dashboard_site import Site, made
from tests.lifecycle.conftest import run_command, url_of
from worker.guards import breakers
from worker.profiles import store
from worker.profiles.store import NewProfile
from worker.queue import pause

HOSTILE = "$(id)`id`;id;"
NAMES = (
    *(("profiles", "id"), ("profiles", "account_id"), ("accounts", "id"), ("proxies", "name")),
    *(("work_queue", "queue"), ("work_queue", "batch"), ("work_queue", "task")),
    *(("work_queue", "profile_id"), ("work_queue", "account_id"), ("work_queue", "dedupe_key")),
    *(("breakers", "name"), ("limits", "name"), ("batches", "name"), ("schedules", "name")),
    *(("failure_groups", "label"), ("failure_groups", "task")),
)
COMMANDS = (
    *(("status",), ("todo",), ("errors",), ("why", 61), ("why", 106), ("show", 75), ("jobs",)),
    *(("report", "--since", "24h", "--format", form) for form in ("text", "md", "html")),
    *(("limits", "list"), ("breakers", "list"), ("profiles", "list"), ("accounts", "list")),
    *(("proxies", "list"), ("schedule", "list"), ("doctor",)),
)
# In Markdown a command ends with a backquote of its own.
OBEYED = re.compile(r"\$\(|`id|;id")


def obeyed(text: str) -> list[str]:
    """List the commands in a text of which a shell would obey more than the command."""
    commands = re.findall(r'launcher\.py (.*?)(?:</code>|"|$)', text, re.MULTILINE)
    # What stands in quotes is a word.
    bare = (re.sub(r"'[^']*'", "", html.unescape(command)) for command in commands)
    return [command for command in bare if OBEYED.search(command)]


@pytest.fixture(scope="module")
def site(server, tmp_path_factory) -> Iterator[Site]:
    with made(server, tmp_path_factory.mktemp("hostile"), HOSTILE) as found:
        store.add(found.db, [NewProfile("lost", account_id="none")], "me")
        found.db.run_statement("SET foreign_key_checks = 0")
        for table, column in NAMES:
            found.db.run_statement(
                f"UPDATE {table} SET {column} = CONCAT({column}, %(name)s)", {"name": HOSTILE}
            )
        store.pause_account(found.db, f"none{HOSTILE}", reason=HOSTILE, by=HOSTILE)
        pause.pause(found.db, HOSTILE, HOSTILE, f"default{HOSTILE}")
        breakers.open_by_hand(found.db, f"site:{HOSTILE}", None, HOSTILE, HOSTILE)
        yield found


@pytest.mark.parametrize("path", [page for page in PAGES if "{ago}" not in page])
def test_no_page_offers_a_command_with_anything_in_it_that_a_shell_obeys(site, path):
    assert obeyed(site.client().get(path).text) == []


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(map(str, words)))
def test_no_command_prints_one_either(site, tmp_path, command):
    done = run_command(tmp_path, *command, DATABASE_URL=url_of(site.config.database))

    assert obeyed(done.stdout + done.stderr) == []


def test_there_are_such_commands_with_quotes(site, tmp_path):
    """Otherwise the others would hold whatever is written."""
    told = run_command(tmp_path, "todo", DATABASE_URL=url_of(site.config.database)).stdout
    pages = "".join(
        html.unescape(site.client().get(path).text) for path in ("/limits", "/profiles")
    )

    for kind in ("breakers close '", "profiles clear '"):
        assert f"launcher.py {kind}" in told
        assert f"launcher.py {kind}" in pages
