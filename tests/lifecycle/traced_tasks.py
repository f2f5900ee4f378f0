"""Tasks of a traced run, and its SDK: spans are kept in memory, and in a file at shutdown."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from worker import Fail, task

HERE = Path(__file__).parent


def configure() -> None:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    class Kept(InMemorySpanExporter):
        def shutdown(self) -> None:
            lines = [span.to_json(indent=None) + "\n" for span in self.get_finished_spans()]
            (HERE / f"spans-{os.getpid()}").write_text("".join(lines), encoding="utf-8")

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(Kept()))
    trace.set_tracer_provider(provider)


def configure_badly() -> None:
    raise RuntimeError("no collector here")


def configure_slowly() -> None:
    from opentelemetry import trace

    class Slow(trace.NoOpTracerProvider):
        def shutdown(self) -> None:
            time.sleep(600)

    trace.set_tracer_provider(Slow())


@task("good", browser=False)
def good(page, payload, job):
    from opentelemetry import trace

    trace.get_tracer("tests").start_span("of the task").end()


@task("untraced", browser=False)
def untraced(page, payload, job):
    return {"imported": sorted(name for name in sys.modules if name.startswith("opentelemetry"))}


@task("bad", browser=False)
def bad(page, payload, job):
    raise Fail(f"nothing to buy at {payload['url']} with {payload['password']}")


@task("deadly_once", browser=False)
def deadly_once(page, payload, job):
    if job.attempt == 1:
        os.kill(os.getpid(), signal.SIGKILL)


@task("shown")
def shown(page, payload, job):
    page.set_content("<title>private words</title>")
    page.locator("#missing").click(timeout=50)
