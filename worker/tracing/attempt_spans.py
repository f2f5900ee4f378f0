"""A CONSUMER span for every attempt, named and described as messaging systems are.

It tells which job, how it ended and what was raised, by name alone: no URL, no message, no text of
a page. A span that cannot be made or ended stops the tracing, not the job.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Self

from worker.evidence import known_secrets
from worker.models import Claim, Ending, Outcome, Owner
from worker.queue.settlements import Settlement
from worker.tracing import provider, traceparent

if TYPE_CHECKING:
    from opentelemetry.trace import Link, Span, Tracer

SYSTEM = "nightshift"
MAX_NAME = 200
# A claim that was lost: whoever took the job over tells what became of it.
LOST = "lost"
# Nobody failed: the job is done, or goes back to the queue untouched.
_GOOD = (Outcome.DONE, Outcome.HANDED_BACK)

logger = logging.getLogger("nightshift.tracing")


class NoSpans:
    """What a worker has without `--otel`: every call is empty."""

    def of(self, claim: Claim, *, is_known: bool) -> Self:
        """Start the span of an attempt, current within a `with` that ends it."""
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def note(self, ending: Ending, error_type: str | None) -> None:
        """Tell how the attempt ended, before that is written."""

    def settle(self, settlement: Settlement | None) -> None:
        """Tell what became of the job; None says that the claim was lost."""

    def close(self) -> None:
        """Send what is left, within a few seconds."""


class AttemptSpans(NoSpans):
    """The spans of one worker, one at a time."""

    def __init__(self, tracer: Tracer, run_id: int, owner: Owner) -> None:
        self._tracer: Tracer | None = tracer
        self._worker: dict[str, str | int] = {
            "messaging.system": SYSTEM,
            "messaging.operation.name": "process",
            "messaging.operation.type": "process",
            "nightshift.run.id": run_id,
            "nightshift.worker.slot": owner.slot,
        }
        self._span: Span | None = None
        self._current: AbstractContextManager[Span] | None = None

    def of(self, claim: Claim, *, is_known: bool) -> Self:
        """Start the span of an attempt; a name of a task that nobody knows is not put into it."""
        with self._guarded():
            if self._tracer is not None:
                self._begin(self._tracer, claim, is_known=is_known)
        return self

    def _begin(self, tracer: Tracer, claim: Claim, *, is_known: bool) -> None:
        from opentelemetry import context, trace

        where = {"messaging.destination.name": claim.task} if is_known else {}
        self._span = tracer.start_span(
            f"process {claim.task}" if is_known else "process",
            # A trace of its own: a whole night in one is more than any viewer shows.
            context=context.Context(),
            kind=trace.SpanKind.CONSUMER,
            attributes={
                **self._worker,
                **where,
                "messaging.message.id": str(claim.job_id),
                "nightshift.attempt": claim.attempt,
            },
            links=_links(claim.payload),
        )
        # The task's own spans, and those of its libraries, become this one's children.
        self._current = trace.use_span(
            self._span, record_exception=False, set_status_on_exception=False
        )
        self._current.__enter__()

    def note(self, ending: Ending, error_type: str | None) -> None:
        """Tell how the attempt ended; a failure is named by its outcome and by what was raised."""
        if (span := self._span) is None:
            return
        with self._guarded():
            span.set_attribute("nightshift.outcome", ending.outcome.value)
            if ending.cause is not None:
                span.set_attribute("nightshift.cause", ending.cause.value)
            if ending.outcome not in _GOOD:
                from opentelemetry.trace import StatusCode

                name = known_secrets.mask(error_type or ending.outcome.value)[:MAX_NAME]
                span.set_attribute("error.type", name)
                span.set_status(StatusCode.ERROR)

    def settle(self, settlement: Settlement | None) -> None:
        """Tell what became of the job; None says that the claim was lost."""
        if (span := self._span) is not None:
            with self._guarded():
                status = LOST if settlement is None else settlement.status.value
                span.set_attribute("nightshift.job.status", status)

    def __exit__(self, *_: object) -> None:
        span, current = self._span, self._current
        self._span = self._current = None
        with self._guarded():
            if current is not None:
                current.__exit__(None, None, None)
            if span is not None:
                span.end()

    def close(self) -> None:
        """Send what is left, within a few seconds."""
        provider.flush()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self._tracer = None
            logger.error("%s: %s; going on without traces", type(error).__name__, error)


def of_run(how: str | None, run_id: int, owner: Owner) -> NoSpans:
    """Set up what a run's `--otel` asks for, in this process; nothing without it."""
    tracer = None if how is None else provider.set_up(how)
    return NoSpans() if tracer is None else AttemptSpans(tracer, run_id, owner)


def error_type(error: BaseException) -> str:
    """Name an exception as traces do, by its class: `worker.errors.Blocked`."""
    kind = type(error)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _links(payload: str) -> list[Link]:
    """Link to whatever added the job, if that left word in the payload."""
    found = traceparent.of_payload(payload)
    if found is None:
        return []
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    producer = TraceContextTextMapPropagator().extract({traceparent.FIELD: found})
    return [trace.Link(trace.get_current_span(producer).get_span_context())]
