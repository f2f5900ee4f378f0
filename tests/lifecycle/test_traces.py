"""Traces of real runs: every worker's spans, whom they are linked to, and what they never tell."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
URL = "https://shop.example/secret-page"


@pytest.fixture
def tasks_file(tmp_path):
    return shutil.copy(Path(__file__).with_name("traced_tasks.py"), tmp_path / "traced.py")


@pytest.fixture
def traced(launch, tasks_file):
    """Run what is queued with this function as the set-up of the SDK."""

    def run(function="configure", *arguments):
        run = launch("--tasks", tasks_file, "--otel", f"{tasks_file}:{function}", *arguments)
        return run, run.wait(60)

    return run


@pytest.fixture
def spans(tmp_path):
    """Read the spans of all processes of a run that has ended."""

    def read(name=None):
        files = sorted(tmp_path.glob("spans-*"))
        found = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        return [span for span in found if name in (None, span["name"])]

    return read


def test_every_attempt_has_a_span_linked_to_what_added_its_job(traced, queue, spans):
    linked = queue.enqueue("good", {"url": URL, "traceparent": f"00-{TRACE}-{SPAN}-01"})
    alone = queue.enqueue("good", {"url": URL})

    run, code = traced("configure", "--workers", 2)

    assert code == 0, run.output
    found = {span["attributes"]["messaging.message.id"]: span for span in spans("process good")}
    assert set(found) == {str(linked), str(alone)}
    (link,) = found[str(linked)]["links"]
    assert link["context"]["trace_id"] == f"0x{TRACE}"
    assert link["context"]["span_id"] == f"0x{SPAN}"
    assert found[str(alone)]["links"] == []
    ids = {span["context"]["trace_id"] for span in found.values()}
    assert len(ids) == 2
    # A task's own spans belong to its attempt.
    assert {span["context"]["trace_id"] for span in spans("of the task")} == ids
    assert {span["kind"] for span in found.values()} == {"SpanKind.CONSUMER"}


def test_the_run_has_a_span_that_its_attempts_name(traced, queue, spans):
    queue.enqueue("good", {})
    queue.enqueue("bad", {"url": URL, "password": "hush-hush-hush"})

    run, code = traced("configure", "--workers", 1, "--fail-over", 0)

    assert code == 10, run.output
    (span,) = spans("run")
    told = span["attributes"]
    assert (told["nightshift.jobs.done"], told["nightshift.jobs.failed"]) == (1, 1)
    assert (told["process.exit.code"], span["status"]["status_code"]) == (10, "ERROR")
    attempts = spans("process good") + spans("process bad")
    assert {each["attributes"]["nightshift.run.id"] for each in attempts} == {
        told["nightshift.run.id"]
    }
    assert span["start_time"] < min(each["start_time"] for each in attempts)


def test_no_url_no_secret_and_no_text_of_a_page_is_in_a_span(traced, queue, spans, tmp_path):
    queue.enqueue("bad", {"url": URL, "password": "hush-hush-hush"})
    queue.enqueue("shown", {"url": URL})

    run, code = traced("configure", "--workers", 1, "--max-attempts", 1)

    assert code == 0, run.output
    (bad,), (shown,) = spans("process bad"), spans("process shown")
    assert bad["attributes"]["error.type"] == "worker.errors.Fail"
    assert shown["attributes"]["error.type"].endswith("TimeoutError")
    assert bad["attributes"]["nightshift.job.status"] == "error"
    text = "".join(file.read_text() for file in tmp_path.glob("spans-*"))
    for word in ("shop.example", "hush", "nothing to buy", "private words", "#missing"):
        assert word not in text


def test_a_killed_workers_attempt_has_no_span_and_harms_nothing(traced, queue, spans):
    job = queue.enqueue("deadly_once", {"traceparent": f"00-{TRACE}-{SPAN}-01"})

    run, code = traced("configure", "--workers", 1, "--retry-delay", 0)

    assert code == 0, run.output
    assert queue.get(job)["status"] == "done"
    (span,) = spans("process deadly_once")
    assert span["attributes"]["nightshift.attempt"] == 2
    assert span["links"][0]["context"]["trace_id"] == f"0x{TRACE}"
    assert spans("run")[0]["attributes"]["nightshift.worker.deaths"] == 1


def test_a_setup_that_fails_costs_the_traces_and_no_job(traced, queue):
    job = queue.enqueue("good", {})

    run, code = traced("configure_badly", "--workers", 1)

    assert code == 0, run.output
    assert queue.get(job)["status"] == "done"
    assert "RuntimeError: no collector here; going on without traces" in run.output


def test_an_exporter_that_never_ends_does_not_hold_the_run_up(traced, queue):
    job = queue.enqueue("good", {})

    run, code = traced("configure_slowly", "--workers", 1)

    assert code == 0, run.output
    assert queue.get(job)["status"] == "done"
    assert "the last traces could not be sent within 3 s" in run.output


def test_the_sdks_own_variables_set_it_up_in_every_process(launch, queue, tasks_file):
    queue.enqueue("good", {})

    run = launch(
        *("--workers", 1, "--tasks", tasks_file, "--otel", "env", "--json"),
        OTEL_TRACES_EXPORTER="console",
        OTEL_EXPORTER_OTLP_HEADERS="api-key=hush-hush-hush",
    )

    assert run.wait() == 0, run.output
    assert run.summary["done"] == 1
    assert '"name": "process good"' in run.stderr
    assert '"name": "run"' in run.stderr
    assert "hush-hush-hush" not in run.output


def test_without_the_setting_no_worker_imports_opentelemetry(launch, queue, tasks_file):
    job = queue.enqueue("untraced", {})

    run = launch("--workers", 1, "--tasks", tasks_file)

    assert run.wait() == 0, run.output
    assert json.loads(queue.get(job)["result"]) == {"imported": []}


def test_a_setting_that_cannot_be_meant_ends_the_run_before_it_begins(launch):
    run = launch("--workers", 1, "--otel", "everything")

    assert run.wait() == 78
    assert "--otel everything: give env, or a function that sets the SDK up" in run.stderr
