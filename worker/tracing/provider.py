"""The user's own OpenTelemetry SDK, set up in the process that traces: after the fork.

Exporters hold threads and connections, which no fork copies. Nothing of OpenTelemetry is imported
before `--otel` asks for it, and whatever fails in it costs the traces, never a job.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from worker.errors import SettingsError
from worker.evidence import known_secrets
from worker.system.user_module import function_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from opentelemetry.trace import Tracer

# The SDK's own variables say where spans go; anything else is FILE_OR_MODULE:FUNCTION.
BY_VARIABLES = "env"
NAME = "nightshift"
# How long the end of a process may wait for its last spans: less than a stopped worker is given.
FLUSH_SECONDS = 3.0
_EXPORTERS = "opentelemetry_traces_exporter"
_OTLP = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"}

logger = logging.getLogger("nightshift.tracing")


def check(how: str) -> None:
    """Raise SettingsError if `--otel` cannot work here; sets nothing up."""
    if importlib.util.find_spec("opentelemetry") is None:
        raise SettingsError(
            "--otel needs OpenTelemetry's API and an SDK; "
            "pip install 'nightshift[otel]' opentelemetry-sdk opentelemetry-exporter-otlp"
        )
    if how != BY_VARIABLES:
        _function(how)
    elif importlib.util.find_spec("opentelemetry.sdk") is None:
        raise SettingsError("--otel env needs an SDK; pip install opentelemetry-sdk")
    else:
        list(_exporters())


def set_up(how: str) -> Tracer | None:
    """Set the SDK up in this process and return a tracer; None, with a line in the log, if not."""
    from opentelemetry import trace

    known_secrets.keep(_secrets_of_exporters())
    try:
        if how != BY_VARIABLES:
            _function(how)()
        elif isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            # Otherwise a task file has set one up.
            _set_up_by_variables()
        return trace.get_tracer(NAME)
    except Exception as error:
        logger.error("--otel %s: %s: %s; going on without traces", how, type(error).__name__, error)
        return None


def flush(seconds: float = FLUSH_SECONDS) -> None:
    """Send what is left and shut the SDK down, in this time at the most."""
    from opentelemetry import trace

    provider = trace.get_tracer_provider()
    # A thread, because an exporter whose collector is away may retry for a minute.
    thread = threading.Thread(target=_shut_down, args=(provider,), daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        logger.warning("the last traces could not be sent within %g s", seconds)


def _shut_down(provider: Any) -> None:
    try:
        # The API knows no shutdown: without an SDK there is nothing to send.
        getattr(provider, "shutdown", lambda: None)()
    except Exception as error:
        logger.error("the last traces could not be sent: %s: %s", type(error).__name__, error)


def _function(how: str) -> Callable[..., object]:
    return function_of(how, "--otel", "give env, or a function that sets the SDK up")


def _set_up_by_variables() -> None:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # Both read their own variables: sampler, resource, service name, batches.
    provider = TracerProvider(shutdown_on_exit=False)
    for exporter in _exporters():
        provider.add_span_processor(BatchSpanProcessor(exporter.load()()))
    trace.set_tracer_provider(provider)


def _exporters() -> Iterator[EntryPoint]:
    """Find what OTEL_TRACES_EXPORTER names; raises SettingsError for what is not installed."""
    from importlib.metadata import entry_points

    found = {point.name: point for point in entry_points(group=_EXPORTERS)}
    for name in (os.environ.get("OTEL_TRACES_EXPORTER") or "otlp").split(","):
        wanted = [name.strip()] if name.strip() != "otlp" else _otlp_names()
        if wanted == ["none"]:
            continue
        if not (there := [found[each] for each in wanted if each in found]):
            raise SettingsError(
                f"--otel env: there is no exporter {' or '.join(wanted)}; "
                "pip install opentelemetry-exporter-otlp, or set OTEL_TRACES_EXPORTER"
            )
        yield there[0]


def _otlp_names() -> list[str]:
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL"
    )
    return [_OTLP[protocol]] if protocol in _OTLP else list(reversed(_OTLP.values()))


def _secrets_of_exporters() -> list[str]:
    """List the values of `OTEL_EXPORTER_OTLP_HEADERS` and its like: keys of an account."""
    headers = [
        value
        for name, value in os.environ.items()
        if name.startswith("OTEL_EXPORTER_") and name.endswith("_HEADERS")
    ]
    return [pair.partition("=")[2].strip() for text in headers for pair in text.split(",")]
