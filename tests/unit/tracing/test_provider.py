"""Setting an SDK up: what `--otel` refuses, what OTEL_ variables do, how long it may take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from worker.errors import SettingsError
from worker.tracing import provider

ROOT = Path(__file__).parents[3]
# A process has one tracer provider for good: each test that sets one up has a process of its own.
TRACED = """
from worker.tracing import provider
tracer = provider.set_up({how!r})
print("tracer" if tracer else "none", flush=True)
if tracer:
    tracer.start_span("tried").end()
provider.flush({seconds})
"""


def in_a_process(how: str, seconds: float = 3.0, **environment: str) -> str:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", TRACED.format(how=how, seconds=seconds)],
        cwd=ROOT, env={**clean, **environment}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_the_sdks_own_variables_say_where_spans_go():
    said = in_a_process("env", OTEL_TRACES_EXPORTER="console", OTEL_SERVICE_NAME="shop-night")

    first, _, span = said.partition("\n")
    assert first == "tracer"
    assert json.loads(span)["name"] == "tried"
    assert json.loads(span)["resource"]["attributes"]["service.name"] == "shop-night"


def test_a_disabled_sdk_sends_nothing():
    said = in_a_process("env", OTEL_TRACES_EXPORTER="console", OTEL_SDK_DISABLED="true")

    assert said == "tracer\n"


def test_a_setup_that_fails_costs_the_traces_alone(tmp_path):
    file = tmp_path / "broken.py"
    file.write_text("def configure():\n    raise ValueError('no collector')\n")

    said = in_a_process(f"{file}:configure")

    assert said.startswith("none\n")
    assert "ValueError: no collector; going on without traces" in said


def test_an_exporter_that_never_ends_is_left_behind(tmp_path):
    file = tmp_path / "slow.py"
    file.write_text(
        "import time\n"
        "from opentelemetry import trace\n"
        "class Provider(trace.NoOpTracerProvider):\n"
        "    def shutdown(self): time.sleep(60)\n"
        "def configure(): trace.set_tracer_provider(Provider())\n"
    )
    began = time.monotonic()

    said = in_a_process(f"{file}:configure", seconds=0.2)

    assert time.monotonic() - began < 30
    assert "could not be sent within 0.2 s" in said


def test_the_keys_in_an_exporters_headers_are_secrets(monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=k-123456, tenant=night-7")

    assert provider._secrets_of_exporters() == ["k-123456", "night-7"]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("on", "--otel on: give env, or a function that sets the SDK up"),
        ("shop:", "--otel shop:: give env, or a function"),
        (
            "no_such_module_here:configure",
            "--otel no_such_module_here: cannot be loaded: ModuleNotFoundError",
        ),
        ("json:configure", "--otel json:configure: there is no function configure in json"),
        ("./missing.py:configure", "--otel ./missing.py: there is no such file"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(how, said):
    with pytest.raises(SettingsError) as refused:
        provider.check(how)

    assert str(refused.value).startswith(said)


def test_an_exporter_that_is_not_installed_is_refused(monkeypatch):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "zipkin")

    with pytest.raises(SettingsError, match="there is no exporter zipkin; pip install"):
        provider.check("env")


def test_without_the_extra_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)

    with pytest.raises(SettingsError, match=r"pip install 'nightshift\[otel\]'"):
        provider.check("env")
