"""NIGHTSHIFT_* variables that nothing reads are named, with the one that was meant."""

from __future__ import annotations

import re
from pathlib import Path

from worker.cli import variables
from worker.cli.variables import unread

REPO = Path(__file__).parents[3]


def test_a_mistyped_variable_is_named_with_the_nearest_and_without_its_value():
    assert list(unread({"NIGHTSHIFT_WORKRES": "hunter2", "NIGHTSHIFT_WORKERS": "2"})) == [
        "warning: nothing reads the variable NIGHTSHIFT_WORKRES; did you mean NIGHTSHIFT_WORKERS?"
    ]


def test_a_variable_that_is_like_no_other_is_only_named():
    assert list(unread({"NIGHTSHIFT_XYZZY": "1", "OTHER": "1"})) == [
        "warning: nothing reads the variable NIGHTSHIFT_XYZZY"
    ]


def test_a_vendors_variable_is_known():
    assert list(unread({"NIGHTSHIFT_KAMELEO_URL": "http://127.0.0.1"})) == []


def test_every_variable_that_the_code_names_is_known():
    named: set[str] = set()
    for path in sorted((REPO / "worker").rglob("*.py")):
        named |= set(re.findall(r"\bNIGHTSHIFT_[A-Z]\w*\b", path.read_text(encoding="utf-8")))
    known = variables._ours() | variables._of_vendors()

    assert named - known == set()


def test_no_variable_is_known_that_the_code_does_not_name():
    text = "".join(
        path.read_text(encoding="utf-8")
        for path in (REPO / "worker").rglob("*.*")
        if path.suffix in (".py", ".js") and path.name != "variables.py"
    )

    assert {name for name in variables.OTHERS if name not in text} == set()
