"""What strangers say is shown on terminals and never obeyed, whatever command shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import click
import pytest

from tests.attacks.hostile_text import HOSTILE, orders_in, run_on_terminal, spoil
from tests.conftest import because
from tests.lifecycle.conftest import run_any_command, run_command, url_of
from worker.cli.groups import DefaultGroup
from worker.cli.main import cli
from worker.guards import breakers, limits
from worker.history import archive
from worker.history.archive import Label
from worker.profiles import store
from worker.profiles.store import NewProfile
from worker.proxies import choice, proxy
from worker.proxies import store as proxies
from worker.queue import pause

ENVIRONMENT = {
    "NIGHTSHIFT_WEBHOOK_SECRET": "s3cret",
    "TERM": "xterm-256color",
    "PATH": "/usr/bin:/bin",
}
JOBS = ("done", "error", "retried", "in_progress", "pending", "archived")
PROFILE, ACCOUNT, PROXY = (f"{name}{HOSTILE}" for name in ("f1", "a1", "p1"))
STATE_CHANGES = ("quarantine", "disable", "clear")
FILES = {
    "#proxies.csv": f'name,url\n"{HOSTILE}",http://p.test:1\nb,"{HOSTILE}"\n',
    "#profiles.csv": f'id,provider,"{HOSTILE}"\n"{HOSTILE}",local,1\nb,"{HOSTILE}",2\n',
    "#cookies.json": json.dumps({"cookies": [{"name": HOSTILE, "value": "", "domain": HOSTILE}]}),
    "#backup.tar": None,
    "#evidence": None,
}
# The commands of each subject; #done is the number of the job that is done.
COMMANDS = {
    "jobs": [
        *(("show", f"#{name}") for name in JOBS),
        ("show", "#done", "--json"),
        ("status",),
        ("status", "--json"),
        ("todo",),
        ("todo", "--json"),
        ("jobs",),
        ("jobs", "--task", HOSTILE, "--json"),
        ("cancel", "--id", "#pending", "--dry-run"),
        ("cancel", "--batch", HOSTILE, "--dry-run"),
        ("undiscard", "--id", "#archived", "--dry-run"),
        ("undiscard", "--task", HOSTILE, "--dry-run"),
        ("schedule", "add", "nightly", "--cron", HOSTILE, "--payload", "{}"),
        ("schedule", "add", HOSTILE, "--cron", "0 18 * * *"),
        ("schedule", "list"),
        *(("schedule", verb, HOSTILE) for verb in ("pause", "resume", "run-now", "remove")),
        ("tick",),
    ],
    "reasons": [("why", f"#{name}") for name in JOBS],
    "failures": [
        ("report", "--since", "1h"),
        ("report", "--since", "1h", "--format", "md"),
        ("report", "--since", "1h", "--format", "html"),
        ("report", "--since", "1h", "--format", "json"),
        ("report", "--since", HOSTILE),
        ("errors", "--all"),
        ("errors", "feedface"),
        ("errors", "feedface", "--json"),
        ("rehearse", "--group", "feedface", "--tasks", HOSTILE),
        ("evidence", "get", "#error", "-o", "#evidence"),
        ("mute", "feedface", "--reason", HOSTILE),
        ("unmute", "feedface"),
        ("retry", "--id", "#error", "--dry-run"),
        ("retry", "--filter", f"task={HOSTILE}", "--dry-run"),
        ("discard", "--group", HOSTILE, "--dry-run"),
    ],
    "guards": [
        ("limits",),
        ("breakers", "--all"),
        ("limits", "clear", f"site:a{HOSTILE}"),
        ("limits", "set", f"site:{HOSTILE}", "--concurrent", "1"),
        ("breakers", "open", f"site:{HOSTILE}", "--reason", HOSTILE),
        ("breakers", "close", f"site:{HOSTILE}"),
    ],
    "proxies": [
        ("proxies",),
        ("proxies", "--json"),
        ("proxies", "disable", PROXY, "--reason", HOSTILE),
        ("proxies", "enable", PROXY),
        ("proxies", "add", HOSTILE, "http://a.test:1"),
        ("proxies", "set", PROXY, f"http://a.test:1/{HOSTILE}"),
        ("proxies", "import", "#proxies.csv"),
        ("proxies", "test", "--url", "http://127.0.0.1:1/"),
        ("proxies", "test", HOSTILE),
        ("proxies", "remove", PROXY),
    ],
    "profiles": [
        ("profiles",),
        ("profiles", "show", PROFILE),
        ("profiles", "history", PROFILE),
        ("profiles", "return", PROFILE, "--review", HOSTILE),
        ("profiles", "set", PROFILE, "--region", HOSTILE),
        ("profiles", "add", HOSTILE),
        ("accounts",),
        ("accounts", "resume", ACCOUNT),
        ("accounts", "add", HOSTILE),
        ("accounts", "pause", ACCOUNT, "--reason", HOSTILE),
        ("accounts", "set", ACCOUNT, "--window", HOSTILE),
    ],
    "profiles in use": [
        *(("profiles", verb, PROFILE, "--reason", HOSTILE) for verb in STATE_CHANGES),
        ("profiles", "checkout", PROFILE, "--reason", HOSTILE),
        ("profiles", "open", PROFILE),
        ("profiles", "move", PROFILE, "--to-host", HOSTILE),
        ("profiles", "move", PROFILE, "--here"),
        ("profiles", "remove", PROFILE, "--yes"),
        ("profiles", "cookies", PROFILE, "--in", "#cookies.json"),
        ("profiles", "backup", PROFILE, "-o", "#backup.tar"),
        ("profiles", "restore", PROFILE, "#cookies.json", "--of", HOSTILE),
        ("profiles", "import", "#profiles.csv"),
        ("profiles", "ask", PROFILE),
        ("profiles", "providers", HOSTILE),
    ],
    "work": [
        ("deliver", "--list"),
        ("deliver",),
        ("sweep", "-v"),
        ("archive", "--older-than", "0", "--dry-run"),
        ("doctor",),
        ("runs",),
        ("metrics",),
        ("notify", "--notify", f"json://{HOSTILE}"),
        ("pause", "--reason", HOSTILE),
        ("resume", "--queue", HOSTILE),
        ("rollups",),
        *(("dashboard", each, HOSTILE, "--remove") for each in ("user", "token")),
        ("run", "--workers", 1, "--max-runtime", "1s", "--quiet"),
    ],
    "tasks": [
        ("try", f"hostile{HOSTILE}", "--job", "#pending"),
        ("try", "visit", "--job", "#pending"),
        ("reproduce", "#error"),
        ("show", HOSTILE),
        (HOSTILE,),
        ("db", "status"),
    ],
}


@pytest.fixture
def spoilt(database, queue, claim_as):
    """A database with one of everything, all of it spoilt; returns the numbers of its jobs."""
    group = "feedfacefeedface"
    why = because("it broke", "Traceback\n it broke", fingerprint=group, label="hostile: it broke")
    jobs = {}
    for name in JOBS:
        jobs[name] = queue.enqueue("hostile", {}, callback_url="http://a.test/hook")
    queue.complete(claim_as(), {})
    queue.fail(claim_as(), {**why, "last_step": "a step", "evidence": "2/1"})
    queue.retry(claim_as(), why, delay_seconds=1000)
    claim_as()
    database.run_statement(
        "UPDATE work_queue SET status = 'error', finished_at = UTC_TIMESTAMP(6), last_error = 'x'"
        " WHERE id = %(id)s",
        {"id": jobs["archived"]},
    )
    label = Label("me", "old")
    archive.move(
        database, [jobs["archived"]], label, until=archive.now(database), statuses=["error"]
    )
    limits.set_limit(database, "site:a.test", concurrent=0, per_minute=None, by="me")
    breakers.open_by_hand(database, "site:b.test", None, "no", "me")
    breakers.close_by_hand(database, "site:c.test", keep=True, by="me")
    proxies.add(database, proxy.Proxy("http", "p.test", 8080, name="p1", region="de"))
    choice.note_block(database, proxies.all_proxies(database)[0]["id"], site="a.test", reason="no")
    store.add(database, [NewProfile("f1", account_id="a1", region="de")], "me")
    store.check_out(database, "f1", person="me", seconds=60, reason="looking")
    store.pause_account(database, "a1", reason="holidays", by="me")
    pause.pause(database, "stocktaking", "me")
    spoil(database)
    return jobs


@pytest.mark.parametrize("subject", COMMANDS)
def test_no_command_lets_a_stranger_speak_to_the_terminal(settings, spoilt, tmp_path, subject):
    changes = {"DATABASE_URL": url_of(settings), **ENVIRONMENT}

    def piped(command):
        run = run_any_command if command[0] in ("try", "reproduce") else run_command
        done = run(tmp_path, *command, **changes)
        return command, done.stdout + done.stderr

    def shown(command):
        return command, run_on_terminal(tmp_path, command, **changes)[1]

    meant: dict[object, object] = {f"#{name}": number for name, number in spoilt.items()}
    for name, text in FILES.items():
        meant[name] = path = tmp_path / name.removeprefix("#")
        if text is not None:
            path.write_text(text, encoding="utf-8", newline="")
    commands = [[meant.get(word, word) for word in command] for command in COMMANDS[subject]]
    with ThreadPoolExecutor(2) as at_once:
        came = [*at_once.map(shown, commands), *at_once.map(piped, commands)]

    assert {str(command): found for command, text in came if (found := orders_in(text))} == {}
    assert any("nightshift: ok" in text for _, text in came)


# `watch` shows the lines of `status`, and does not end by itself; the rest is in other tests.
ELSEWHERE = {("enqueue",), ("export",), ("watch",)}
SAYS_ONLY_ITS_OWN = {
    *((name,) for name in ("init", "prune", "migrate", "demo", "drill")),
    *(("dashboard", name) for name in ("serve", "users")),
    *(("db", name) for name in ("start", "stop", "shell")),
    ("evidence", "put"),
    ("rollups", "rebuild"),
}


def test_every_command_that_shows_what_strangers_say_is_attacked():
    attacked = {_path(command) for commands in COMMANDS.values() for command in commands}

    assert set(_paths(cli)) - attacked == ELSEWHERE | SAYS_ONLY_ITS_OWN


def _paths(group: click.Group) -> Iterator[tuple[str, ...]]:
    """Walk the tree of commands to its leaves."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from ((name, *rest) for rest in _paths(command))
        else:
            yield (name,)


def _path(words: Sequence[object]) -> tuple[str, ...]:
    """Name the command that is meant by these words; bare groups mean their default."""
    first, second = str(words[0]), str(words[1]) if len(words) > 1 else ""
    group = cli.get_command(click.Context(cli), first)
    if not isinstance(group, DefaultGroup):
        return (first,)
    known = group.list_commands(click.Context(group))
    return (first, second if second in known else group.default)
