"""Where the disk gives no more, an outcome still reaches the database, and says what is missing."""

from __future__ import annotations

from tests.lifecycle.conftest import wait_until


def test_a_failure_without_a_place_for_its_evidence_is_told_all_the_same(
    launch, queue, tasks, noted, let_go, errors_dir
):
    failing = queue.enqueue("held_failure", {})
    dying = queue.enqueue("dying", {"code": 3}, max_attempts=1)
    good = queue.enqueue("noop", {})
    starving = queue.enqueue("starving", {})
    run = launch("--workers", 1, "--tasks", tasks, "--json")
    wait_until(lambda: noted("begun"), "the first job has begun")
    # Root may write anywhere, but not into a file as if it were a folder.
    for job in (failing, dying):
        (errors_dir / str(job)).write_bytes(b"")
    let_go()

    assert run.wait() == 0
    assert (run.summary["done"], run.summary["failed"], run.summary["crashes"]) == (1, 3, 1)
    assert queue.get(good)["status"] == "done"
    expected = {failing: "as the test wanted it", dying: "exited with code 3"}
    for job, cause in {**expected, starving: "as the test wanted it"}.items():
        assert queue.get(job)["status"] == "error"
        (attempt,) = queue.history(job)
        assert cause in attempt["reason"]
        assert "no evidence: " in attempt["reason"], f"job {job}"
        assert attempt["evidence"] is None


def test_a_worker_without_a_temporary_folder_is_given_up_in_one_line(launch, queue, tmp_path):
    job = queue.enqueue("visit", {"url": "about:blank"})
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "tmp").write_bytes(b"")

    run = launch("--workers", 1)

    assert run.wait() == 69
    assert (queue.get(job)["status"], queue.get(job)["attempts"]) == ("pending", 0)
    assert f"cannot write to {tmp_path / 'state' / 'tmp'}" in run.stderr
    assert "GIVEN UP" in run.stdout
