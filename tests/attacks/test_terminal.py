"""What strangers say is shown on terminals and never obeyed, whatever command shows it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.attacks.hostile_text import HOSTILE, orders_in, run_on_terminal, spoil
from tests.conftest import because
from tests.lifecycle.conftest import run_command, url_of
from worker.cli.main import MODULES
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
PROFILE = f"f1{HOSTILE}"
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
        ("evidence", "get", "#error"),
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
        ("breakers", "open", f"site:{HOSTILE}", "--reason", HOSTILE),
        ("proxies",),
        ("proxies", "disable", f"p1{HOSTILE}", "--reason", HOSTILE),
        ("proxies", "add", HOSTILE, "http://a.test:1"),
    ],
    "profiles": [
        ("profiles",),
        ("profiles", "show", PROFILE),
        ("profiles", "history", PROFILE),
        ("profiles", "return", PROFILE, "--review", HOSTILE),
        ("profiles", "set", PROFILE, "--region", HOSTILE),
        ("profiles", "add", HOSTILE),
        ("accounts",),
        ("accounts", "resume", f"a1{HOSTILE}"),
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
        done = run_command(tmp_path, *command, **changes)
        return command, done.stdout + done.stderr

    def shown(command):
        return command, run_on_terminal(tmp_path, command, **changes)[1]

    numbers = {f"#{name}": number for name, number in spoilt.items()}
    commands = [[numbers.get(word, word) for word in command] for command in COMMANDS[subject]]
    with ThreadPoolExecutor(2) as at_once:
        came = [*at_once.map(shown, commands), *at_once.map(piped, commands)]

    assert {str(command): found for command, text in came if (found := orders_in(text))} == {}
    assert any("nightshift: ok" in text for _, text in came)


def test_every_command_that_shows_what_strangers_say_is_attacked():
    attacked = {str(command[0]) for commands in COMMANDS.values() for command in commands}
    # `watch` shows the lines of `status`, and does not end by itself.
    elsewhere = {"enqueue", "export", "watch"}
    says_only_its_own = {
        *("init", "resume", "prune", "migrate", "demo", "drill"),
        *("rollups", "dashboard"),
    }

    assert set(MODULES) - attacked == elsewhere | says_only_its_own
