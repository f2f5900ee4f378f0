"""Pages name commands as they are typed where Nightshift is installed; files stay as they are."""

from __future__ import annotations

import pytest
from flask import Response

from worker import installation
from worker.dashboard.app import _make_fit

PAGE = "<p>Resume: <code>python launcher.py resume</code></p>"


@pytest.fixture(autouse=True)
def typed_nightshift(monkeypatch):
    monkeypatch.setattr(installation, "_command", "nightshift")


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
def test_a_page_and_the_api_name_the_installed_command(kind):
    told = _make_fit(Response(PAGE, mimetype=kind))

    assert told.get_data(as_text=True) == "<p>Resume: <code>nightshift resume</code></p>"


@pytest.mark.parametrize(
    "answer",
    [Response(PAGE, mimetype="text/plain"), Response(iter([PAGE]), mimetype="text/html")],
    ids=["text", "stream"],
)
def test_what_is_no_page_of_ours_stays_as_it_is(answer):
    assert "python launcher.py resume" in _make_fit(answer).get_data(as_text=True)
