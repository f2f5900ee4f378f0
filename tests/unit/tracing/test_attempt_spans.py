"""Spans of attempts: what they tell, what they leave out, and that they can break nothing."""

from __future__ import annotations

import json

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from worker.errors import Blocked
from worker.models import Cause, Claim, Ending, Outcome, Owner, Status
from worker.queue.settlements import Settlement
from worker.tracing.attempt_spans import AttemptSpans, NoSpans, error_type, of_run

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
DONE = Ending(Outcome.DONE)
FAILED = Ending(Outcome.ERROR, "no element .price on https://shop.example/?key=1", Cause.CODE)


def claim_with(payload, **changes) -> Claim:
    fields = {"job_id": 7, "fence": 3, "incarnation": 5, "attempt": 2, "max_attempts": 4}
    return Claim(**{**fields, "task": "price", **changes}, payload=json.dumps(payload))


@pytest.fixture
def exporter():
    return InMemorySpanExporter()


@pytest.fixture
def spans(exporter):
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return AttemptSpans(provider.get_tracer("tests"), 11, Owner(1, 5))


def attempt(spans, claim, ending=DONE, status=Status.DONE, error=None, *, is_known=True):
    with spans.of(claim, is_known=is_known) as span:
        span.note(ending, error)
        span.settle(Settlement(status, ending.outcome, "") if status else None)


def test_a_span_is_a_consumers_and_named_as_messaging_systems_name_it(spans, exporter):
    attempt(spans, claim_with({"url": "https://shop.example/"}))

    (span,) = exporter.get_finished_spans()
    assert (span.name, span.kind, span.parent) == ("process price", trace.SpanKind.CONSUMER, None)
    assert dict(span.attributes) == {
        "messaging.system": "nightshift",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": "price",
        "messaging.message.id": "7",
        "nightshift.run.id": 11,
        "nightshift.worker.slot": 1,
        "nightshift.attempt": 2,
        "nightshift.outcome": "done",
        "nightshift.job.status": "done",
    }
    assert span.status.is_unset
    assert span.links == ()


def test_it_is_linked_to_the_producer_and_not_its_child(spans, exporter):
    attempt(spans, claim_with({"traceparent": f"00-{TRACE}-{SPAN}-01"}))

    (span,) = exporter.get_finished_spans()
    (link,) = span.links
    assert format(link.context.trace_id, "032x") == TRACE
    assert format(link.context.span_id, "016x") == SPAN
    assert link.context.is_remote
    assert span.context.trace_id != link.context.trace_id


def test_a_failure_is_told_by_outcome_and_type_without_a_word_of_its_message(spans, exporter):
    claim = claim_with({"url": "https://shop.example/", "password": "hush-hush"})
    attempt(spans, claim, FAILED, Status.ERROR, "shop.NoPrice")

    (span,) = exporter.get_finished_spans()
    assert span.attributes["error.type"] == "shop.NoPrice"
    assert span.attributes["nightshift.outcome"] == span.attributes["nightshift.job.status"]
    assert span.attributes["nightshift.cause"] == "code"
    assert span.status.status_code is trace.StatusCode.ERROR
    assert span.status.description is None
    assert span.events == ()
    assert not any(word in span.to_json() for word in ("shop.example", "hush", ".price on"))


def test_a_failure_without_an_exception_is_named_by_its_outcome(spans, exporter):
    attempt(spans, claim_with({}), Ending(Outcome.TIMED_OUT), Status.PENDING)

    assert exporter.get_finished_spans()[0].attributes["error.type"] == "timed_out"


def test_a_job_that_goes_back_untouched_is_no_failure(spans, exporter):
    attempt(spans, claim_with({}), Ending(Outcome.HANDED_BACK), Status.PENDING)

    (span,) = exporter.get_finished_spans()
    assert span.status.is_unset
    assert "error.type" not in span.attributes


def test_a_lost_claim_is_told(spans, exporter):
    attempt(spans, claim_with({}), DONE, None)

    assert exporter.get_finished_spans()[0].attributes["nightshift.job.status"] == "lost"


def test_a_name_that_no_task_has_is_in_no_span(spans, exporter):
    attempt(spans, claim_with({}, task="made up"), FAILED, Status.ERROR, is_known=False)

    (span,) = exporter.get_finished_spans()
    assert span.name == "process"
    assert "made up" not in span.to_json()


def test_a_tasks_own_spans_are_children_of_the_attempts(spans, exporter):
    with spans.of(claim_with({}), is_known=True):
        own = trace.get_current_span().get_span_context()

    assert exporter.get_finished_spans()[0].context.span_id == own.span_id
    assert trace.get_current_span() is trace.INVALID_SPAN


def test_a_span_ends_although_its_outcome_could_not_be_written(spans, exporter):
    with pytest.raises(OSError, match="no database"), spans.of(claim_with({}), is_known=True):
        raise OSError("no database")

    (span,) = exporter.get_finished_spans()
    assert span.status.is_unset
    assert span.events == ()


class Broken(SpanProcessor):
    def on_start(self, span, parent_context=None):
        raise RuntimeError("no memory for spans")


def test_a_tracer_that_raises_is_put_away_and_the_job_goes_on(caplog):
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Broken())
    spans = AttemptSpans(provider.get_tracer("tests"), 11, Owner(1, 5))

    attempt(spans, claim_with({}))
    attempt(spans, claim_with({}))

    (line,) = [record.getMessage() for record in caplog.records]
    assert line == "RuntimeError: no memory for spans; going on without traces"


def test_without_the_setting_there_are_no_spans_and_the_calls_are_empty():
    spans = of_run(None, 11, Owner(1, 5))

    assert type(spans) is NoSpans
    attempt(spans, claim_with({}))
    spans.close()


def test_an_exception_is_named_by_its_class():
    assert error_type(Blocked("captcha at https://a.example")) == "worker.errors.Blocked"
    assert error_type(ValueError("secret")) == "ValueError"
