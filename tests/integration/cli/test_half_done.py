"""What a person sees of jobs that may be half done, and what it takes to have them done again."""

from __future__ import annotations

import json

import pytest

from tests.integration.profile_cli import refused, said
from worker.models import Cause, Ending, Outcome
from worker.profiles import lease_endings, leases
from worker.queue import irreversible

STEP = "placing order"


@pytest.fixture
def half_done(queue, claim_as):
    """Add a job that broke off at its irreversible step; return its number."""

    def half_done(**fields: str) -> int:
        job = queue.enqueue("order", {}, **fields)
        ending = Ending(Outcome.CRASHED, "killed by SIGKILL", Cause.POOL, irreversible_step=STEP)
        queue.end(claim_as(), ending)
        return job

    return half_done


@pytest.fixture
def failed(queue, claim_as):
    def failed() -> int:
        job = queue.enqueue("order", {})
        queue.end(claim_as(), Ending(Outcome.ERROR, "sold out", Cause.CODE))
        return job

    return failed


def status_of(queue, job: int) -> str:
    return str(queue.get(job)["status"])


def test_show_why_and_errors_say_so_and_name_the_commands(cli, half_done):
    job = half_done()

    shown, why = said(cli("show", job)), said(cli("why", job))
    (told,) = json.loads(said(cli("errors", "--json")))["groups"]
    listed, group = said(cli("errors")), said(cli("errors", told["fingerprint"]))

    for text in (shown, why, listed, group):
        assert f"may be half done at '{STEP}'" in text
        assert "--half-done" in text
        assert "launcher.py discard" in text
    assert f"launcher.py retry --id {job} --half-done" in why
    assert (told["jobs"], told["half_done"]) == (1, 1)
    assert json.loads(said(cli("show", job, "--json")))["job"]["irreversible_step"] == STEP


def test_show_promises_no_retry_of_it(cli, queue, claim_as):
    job = queue.enqueue("order", {})
    queue.end(claim_as(), Ending(Outcome.RETRY, "HTTP 503", Cause.SITE, irreversible_step=STEP))

    (line,) = [line for line in said(cli("show", job)).splitlines() if "attempt 1 by" in line]

    assert ": broken off after " in line


def test_retry_by_number_wants_the_persons_word(cli, queue, half_done):
    job = half_done()

    line = refused(cli("retry", "--id", job, "--yes"))

    assert f"job {job} may be half done at '{STEP}'; nothing was done" in line
    assert "add --half-done" in line
    assert status_of(queue, job) == "error"
    answer = cli("retry", "--id", job, "--yes", "--half-done")
    assert said(answer) == "1 job put back to pending"
    assert answer.stderr.strip() == f"job {job}: its last step was '{STEP}'"
    row = queue.get(job)
    assert (row["status"], row["irreversible_step"]) == ("pending", None)
    assert f"may be half done at '{STEP}'" in said(cli("show", job))


@pytest.mark.parametrize("scope", ["filter", "group"])
def test_retry_of_many_leaves_them_alone_without_it(cli, queue, half_done, failed, scope):
    careful, ordinary = half_done(), failed()
    chosen = ("--filter", "task=order")
    if scope == "group":
        # As if both had failed alike.
        row = queue.get(ordinary)
        queue.database.run_statement(
            f"UPDATE work_queue SET fingerprint = '{row['fingerprint']}' WHERE id = {careful}"
        )
        chosen = ("--group", row["fingerprint"])

    dry = said(cli("retry", *chosen, "--dry-run"))
    told = said(cli("retry", *chosen, "--yes"))

    assert dry.startswith("1 job would be put back to pending; 1 more may be half done")
    assert told.startswith("1 job put back to pending; 1 more may be half done")
    assert (status_of(queue, careful), status_of(queue, ordinary)) == ("error", "pending")
    left = json.loads(said(cli("retry", *chosen, "--yes", "--json")))
    assert left == {"matched": 0, "done": 0, "dry_run": False, "half_done_left_out": 1}
    said(cli("retry", *chosen, "--yes", "--half-done"))
    assert status_of(queue, careful) == "pending"


def test_discard_takes_it_and_the_archive_remembers(cli, database, half_done):
    job = half_done()

    assert said(cli("discard", "--id", job, "--yes")) == "1 job moved to the archive"

    assert f"HALF DONE may be half done at '{STEP}'" in said(cli("show", job))


def test_discard_says_that_it_could_be_added_once_more(cli, queue, half_done):
    job = half_done(dedupe_key="order-14")
    free = "free again: adding it once more would do it again"

    asked = refused(cli("discard", "--id", job))
    dry = said(cli("discard", "--id", job, "--dry-run"))
    told = json.loads(said(cli("discard", "--id", job, "--dry-run", "--json")))

    assert f"; its dedupe key 'order-14' would be {free}; there is no terminal" in asked
    assert dry.endswith(f"; its dedupe key 'order-14' would be {free}")
    assert told["freed_dedupe_keys"] == ["order-14"]
    assert said(cli("discard", "--id", job, "--yes")) == (
        f"1 job moved to the archive; its dedupe key 'order-14' is {free}"
    )
    assert queue.get(job) is None


def test_the_archive_does_not_take_it_away_by_its_age(cli, queue, database, half_done, failed):
    careful, ordinary = half_done(), failed()
    database.run_statement("UPDATE work_queue SET finished_at = '2020-01-01'")

    assert "1 error" in said(cli("archive", "--older-than", "1d", "--dry-run"))
    said(cli("archive", "--older-than", "1d"))

    assert queue.get(ordinary) is None
    assert status_of(queue, careful) == "error"


def test_clear_and_show_of_a_profile_name_its_jobs_and_what_may_be_half_done(
    cli, database, queue, worker, add
):
    add("p1", account_id="ada")
    irreversible_job = queue.enqueue("order", {}, account_id="ada")
    claim = worker.claim_now()
    queue.end(claim, Ending(Outcome.CRASHED, "killed", Cause.POOL, irreversible_step=STEP))
    lease_endings.release(database, "p1", claim.lease_fence, author="w", reason="settled")
    guessed = queue.enqueue("order", {}, profile_id="p1")
    claim = worker.claim_now()
    leases.note_step(database, "p1", claim.lease_fence, "submitting order", "https://a.example/")
    queue.end(claim, Ending(Outcome.CRASHED, "killed", Cause.POOL))
    lease_endings.end_of_the_dead(database, worker.owner.incarnation, "killed")
    waiting = [queue.enqueue("order", {}, profile_id="p1") for _ in range(11)]

    shown = said(cli("profiles", "show", "p1"))
    cleared = said(cli("profiles", "clear", "p1", "--reason", "looked")).splitlines()

    first = ", ".join(map(str, [guessed, *waiting[:9]]))
    assert cleared[0] == "profile p1 was quarantined, is available"
    assert cleared[1] == f"12 pending jobs wait for it: {first} and 2 more"
    assert cleared[2].startswith(f"  job {guessed} may be half done and is tried again")
    assert "it ended at 'submitting order'" in cleared[2]
    assert cleared[3].startswith(f"  job {irreversible_job} may be half done at '{STEP}' and stays")
    for line in cleared[1:]:
        assert line in shown
    told = json.loads(said(cli("profiles", "show", "p1", "--json")))["jobs"]
    assert (told["waiting"], list(told["half_done"])) == (12, [str(irreversible_job)])


def test_a_profile_that_nobody_wants_says_so(cli, add):
    add("p1")
    said(cli("profiles", "quarantine", "p1", "--reason", "odd"))

    cleared = said(cli("profiles", "clear", "p1", "--reason", "looked"))

    assert cleared.splitlines()[1:] == ["no pending job waits for it"]


def test_a_job_at_its_step_says_so_while_it_runs(cli, database, queue, claim_as):
    job = queue.enqueue("order", {})
    claim = claim_as()
    irreversible.begin(database, claim, STEP)

    assert f"at        '{STEP}', irreversible" in said(cli("show", job))
    assert f"at the irreversible step '{STEP}'" in said(cli("why", job))
