"""`launcher.py errors`, `retry`, `discard`, `mute`: three groups in the morning, not 341 rows."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from functools import partial

import pytest

from tests.conftest import because
from tests.lifecycle.conftest import REPO, clean_environment, run_command, url_of

TIMEOUT, MISSING = "aaaa000000000001", "aaab000000000002"


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


@pytest.fixture
def failures(queue, claim_as):
    """Three jobs that timed out and one that was not found, with escape codes in its reason."""
    jobs = []
    for group, reason in [(TIMEOUT, "Timeout")] * 3 + [(MISSING, "HTTP 404 \x1b[31m")]:
        job = queue.enqueue("visit", {"url": "https://www.example.com/"})
        label = f"visit: {reason}"
        queue.fail(claim_as(), because(reason, "Traceback", group, f"{job}/1", None, label))
        jobs.append(job)
    return jobs


def on_a_terminal(settings, folder, answer, *arguments):
    """Run a command whose questions are answered by a person."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "launcher.py", *map(str, arguments)],
        cwd=REPO,
        env=clean_environment(folder, DATABASE_URL=url_of(settings)),
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(slave)
    os.write(master, answer.encode())
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
        os.close(master)
    return process.returncode, out, err


def test_the_groups_are_listed_with_a_sample_and_the_next_step(cli, failures, tmp_path):
    done = cli("errors")

    assert (done.returncode, done.stderr) == (0, "")
    head, first, where, second, _, footer = done.stdout.splitlines()
    assert head == "4 jobs in error in 2 groups, 2 NEW"
    assert first == "      3  aaaa0000 NEW  visit: Timeout"
    assert f"for example job {failures[2]}, {tmp_path}/errors/{failures[2]}/1" in where
    assert second == "      1  aaab0000 NEW  visit: HTTP 404 ?[31m"
    assert footer.startswith(
        f"next: launcher.py errors {TIMEOUT} · launcher.py retry --group {TIMEOUT} --limit 10"
    )


def test_evidence_is_shown_where_it_was_written(cli, failures, database):
    database.run_statement(
        "UPDATE job_attempts SET evidence_dir = '/then/errors', evidence_host = 'elsewhere'"
    )
    where = f"/then/errors/{failures[2]}/1 on elsewhere"

    assert where in cli("errors").stdout
    assert where in cli("errors", "aaaa").stdout
    assert f"evidence: {where}" in cli("show", failures[2]).stdout
    # The archive keeps it.
    assert cli("discard", "--id", failures[2], "--yes").returncode == 0
    assert f"evidence: {where}" in cli("show", failures[2]).stdout


def test_the_groups_as_json_hold_the_same(cli, failures):
    told = json.loads(cli("errors", "--json").stdout)

    assert told["muted_groups"] == 0
    first = told["groups"][0]
    assert (first["fingerprint"], first["jobs"], first["is_new"]) == (TIMEOUT, 3, True)
    assert (first["sample_job"], first["evidence"]) == (failures[2], f"{failures[2]}/1")
    assert first["first_seen"].endswith("Z")


def test_no_errors_are_no_error(cli, database):
    done = cli("errors")

    assert (done.returncode, done.stdout) == (0, "no job is in error\n")
    assert json.loads(cli("errors", "--json").stdout) == {"groups": [], "muted_groups": 0}


def test_one_group_is_listed_with_its_jobs_by_the_beginning_of_its_name(cli, failures):
    done = cli("errors", "aaaa", "--limit", 2)
    told = json.loads(cli("errors", "aaaa", "--json").stdout)

    lines = done.stdout.splitlines()
    assert lines[0] == f"{TIMEOUT}  visit: Timeout"
    assert lines[1].startswith("  3 jobs in error now; 3 attempts failed like this, first ")
    assert lines[2].startswith(f"  job {failures[2]} example.com, attempt 1, ")
    assert lines[4] == "  and 1 more; raise --limit"
    assert lines[5].startswith(f"next: launcher.py show {failures[2]} · ")
    assert told["in_error"] == 3
    assert [job["id"] for job in told["jobs"]] == failures[2::-1]


@pytest.mark.parametrize(
    "command", [("errors",), ("retry", "--group"), ("discard", "--group"), ("mute",), ("unmute",)]
)
def test_a_name_that_is_not_one_group_is_said_to_be_so(cli, failures, command):
    several, none = cli(*command, "aaa"), cli(*command, "ffff")

    assert (several.returncode, none.returncode) == (2, 2)
    assert several.stderr == (
        f"nightshift: several groups begin with aaa: {TIMEOUT}, {MISSING}; give more characters\n"
    )
    assert "no group's name begins with ffff; list them: launcher.py errors" in none.stderr


def test_a_muted_group_is_left_out_until_asked_for(cli, failures):
    assert cli("mute", "aaaa", "--reason", "known").stdout == f"muted {TIMEOUT} (visit: Timeout)\n"

    lines = cli("errors").stdout.splitlines()
    everything = cli("errors", "--all").stdout
    assert lines[0] == "1 job in error in 1 group, 1 NEW"
    assert "not shown: 3 jobs in 1 muted group; to see them: --all" in lines
    assert "aaaa0000 NEW MUTED  visit: Timeout" in everything
    assert ": known" in everything
    assert cli("unmute", "aaaa").stdout == f"unmuted {TIMEOUT}\n"
    assert cli("unmute", "aaaa").stdout == "that group was not muted\n"
    assert cli("errors").stdout.startswith("4 jobs in error in 2 groups")


@pytest.mark.parametrize("verb", ["retry", "discard"])
def test_without_a_terminal_nothing_is_done_unless_one_is_sure(cli, queue, failures, verb):
    done = cli(verb, "--group", "aaaa")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "3 jobs would be" in done.stderr
    assert "add --yes to do it" in done.stderr
    assert queue.counts()["error"] == 4


@pytest.mark.parametrize("verb", ["retry", "discard"])
def test_a_dry_run_counts_and_changes_nothing(cli, queue, failures, verb):
    dry = cli(verb, "--group", "aaaa", "--dry-run")
    canary = cli(verb, "--filter", "site=example.com", "--limit", 2, "--dry-run")
    told = json.loads(cli(verb, "--group", "aaaa", "--dry-run", "--json").stdout)

    fate = {"retry": "put back to pending", "discard": "moved to the archive"}[verb]
    assert (dry.returncode, dry.stdout) == (0, f"3 jobs would be {fate}\n")
    assert canary.stdout == f"2 of 4 jobs would be {fate}\n"
    assert told == {"matched": 3, "done": 0, "dry_run": True}
    assert queue.counts()["error"] == 4


@pytest.mark.parametrize("verb", ["retry", "discard"])
def test_nothing_that_matches_is_said_and_needs_no_yes(cli, failures, verb):
    done = cli(verb, "--filter", "task=no-such")

    assert (done.returncode, done.stdout) == (0, f"nothing to {verb}: no job in error matches\n")


def test_a_canary_is_put_back_and_then_the_rest(cli, queue, failures):
    canary = cli("retry", "--group", "aaaa", "--limit", 1, "--yes")
    told = json.loads(cli("retry", "--group", "aaaa", "--yes", "--json").stdout)

    assert canary.stdout == "1 of 3 jobs put back to pending\n"
    assert told == {"matched": 2, "done": 2, "dry_run": False}
    assert queue.counts() == {"pending": 3, "in_progress": 0, "done": 0, "error": 1}


def test_a_discarded_job_is_shown_with_who_and_why(cli, queue, failures):
    done = cli("discard", "--id", failures[0], "--id", failures[3], "--reason", "sold", "--yes")

    assert done.stdout == "2 jobs moved to the archive\n"
    assert queue.counts()["error"] == 2
    shown = cli("show", failures[0]).stdout
    assert "  archived  2" in shown
    assert ": discarded by " in shown
    assert ": sold\n" in shown
    assert f"job {failures[0]} is in the archive" in cli("retry", "--id", failures[0]).stderr


def test_a_filter_tells_what_muted_groups_keep_out(cli, failures):
    cli("mute", "aaaa")

    assert cli("retry", "--filter", "site=example.com", "--dry-run").stdout == (
        "1 job would be put back to pending; 3 more in muted groups (choose those with --group)\n"
    )


def test_a_person_is_asked_on_a_terminal(settings, tmp_path, queue, failures):
    command = ("retry", "--group", "aaaa")

    refused = on_a_terminal(settings, tmp_path, "n\n", *command)
    assert refused[0] == 0
    assert refused[1] == ""
    assert "3 jobs will be put back to pending. Continue? [y/N]" in refused[2]
    assert "nothing was done" in refused[2]
    assert queue.counts()["error"] == 4
    agreed = on_a_terminal(settings, tmp_path, "y\n", *command)
    assert agreed[:2] == (0, "3 jobs put back to pending\n")
    assert queue.counts()["pending"] == 3


def test_a_done_job_is_only_repeated_by_force(cli, queue, claim_as):
    job = queue.enqueue("visit", {})
    queue.complete(claim_as(), {})

    refused = cli("retry", "--id", job, "--yes")
    forced = cli("retry", "--id", job, "--yes", "--force")

    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"job {job} is done, not in error; nothing was done; add --force" in refused.stderr
    assert (forced.returncode, forced.stdout) == (0, "1 job put back to pending\n")
    assert queue.get(job)["status"] == "pending"


def test_one_wrong_number_keeps_all_of_them_from_being_touched(cli, queue, failures):
    pending = queue.enqueue("visit", {})

    for wrong, said in ((pending, "is pending, not in error"), (4729, "is not in the queue")):
        for verb in ("retry", "discard"):
            done = cli(verb, "--id", failures[0], "--id", wrong, "--yes")
            assert (done.returncode, done.stdout) == (2, "")
            assert f"job {wrong} {said}" in done.stderr
    assert queue.counts()["error"] == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "say which jobs: give one of"),
        (["--group", "aaaa", "--id", "1"], "give one of"),
        (["--filter", ""], "--filter is empty"),
        (["--filter", "status=error"], "is not understood; write task=NAME"),
        (["--id", "1", "--limit", "1"], "--limit works with --group and --filter"),
        (["--group", "aaaa", "--force"], "--force works only with --id"),
        (["--group", "aaaa", "--limit", "0"], "0 is not in the range"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(cli, failures, arguments, said):
    done = cli("retry", *arguments, "--yes")

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_evidence_is_pruned_and_what_was_freed_is_said(cli, database, tmp_path):
    old, new = tmp_path / "errors" / "1" / "1", tmp_path / "errors" / "2" / "1"
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "error.json").write_bytes(b"x" * 4096)
    for path in (old / "error.json", old):
        os.utime(path, (1_000_000_000, 1_000_000_000))

    dry = cli("prune", "--older-than", "30d", "--dry-run")
    assert dry.stdout.startswith("would remove the evidence of 1 attempt, ")
    assert "(older than 30 d 0 h); kept" in dry.stdout
    assert old.exists()
    told = json.loads(cli("prune", "--older-than", "30d", "--json").stdout)
    assert (told["folders"], told["kept_folders"], told["dry_run"]) == (1, 1, False)
    assert told["freed_bytes"] >= 4096
    assert (old.exists(), new.exists()) == (False, True)
    quiet = cli("prune", "--older-than", "30d", "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    over = cli("prune", "--max-size", "1kB")
    assert (over.returncode, new.exists()) == (0, True)
    assert "is still over --max-size" in over.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "say what to remove"),
        (["--max-size", "lots"], "is not a size"),
        (["--max-size", "5iB"], "is not a size"),
        (["--older-than", "x"], "is not a duration"),
    ],
)
def test_a_prune_that_cannot_be_meant_is_wrong_usage(cli, arguments, said):
    done = cli("prune", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
