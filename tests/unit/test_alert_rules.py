"""Alert rules and the Grafana dashboard ask for metrics that exist, and the rules fire in time."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "deploy" / "prometheus"
RULES = FOLDER / "nightshift.rules.yml"
METRICS = Path(__file__).parents[2] / "worker" / "reporting" / "metrics.py"
needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="deploy/setup-tests.sh gets promtool"
)


def promtool(*arguments):
    done = subprocess.run(["promtool", *arguments], check=False, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_the_rules_are_rules():
    promtool("check", "rules", str(RULES))


@needs_promtool
def test_every_rule_fires_when_it_should_and_not_before():
    promtool("test", "rules", str(FOLDER / "nightshift.rules.test.yml"))


def test_every_alert_has_a_test():
    alerts = set(re.findall(r"alert: (\w+)", RULES.read_text()))
    tests = set(re.findall(r"alertname: (\w+)", (FOLDER / "nightshift.rules.test.yml").read_text()))

    assert alerts == tests
    assert len(alerts) > 8


def test_rules_and_dashboard_ask_for_metrics_that_there_are():
    known = set(re.findall(r'"(nightshift_\w+)"', METRICS.read_text()))
    # Made with a name that is put together.
    known |= {f"nightshift_run_last_{name}_timestamp_seconds" for name in ("end", "success")}
    panels = json.loads((FOLDER / "grafana-dashboard.json").read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    names = set(re.findall(r"nightshift_\w+", " ".join([*asked, RULES.read_text()])))

    assert len(panels) == 12
    assert {re.sub(r"_bucket$", "", name) for name in names} <= known
