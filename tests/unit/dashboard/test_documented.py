"""What the dashboard answers is described in docs/dashboard.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker.dashboard.app import MENU, create_app
from worker.dashboard.config import DashboardConfig
from worker.database_settings import DatabaseSettings

TEXT = (Path(__file__).parents[3] / "docs" / "dashboard.md").read_text()


@pytest.fixture
def app(tmp_path):
    # It connects with the first request only.
    database = DatabaseSettings(database="none", unix_socket="/nowhere")
    return create_app(DashboardConfig(database, tmp_path, tmp_path / "people.json", tmp_path))


def test_every_question_of_the_api_is_described(app):
    paths = [str(rule) for rule in app.url_map.iter_rules() if str(rule).startswith("/api/v1/")]
    told = [path.removeprefix("/api/v1/").replace("<int:job_id>", "ID") for path in paths]

    assert len(told) > 6
    assert [path for path in told if f"| `{path}` |" not in TEXT] == []


def test_every_page_of_the_menu_is_described():
    assert [name for _, name in MENU if f"| {name} |" not in TEXT] == []


def test_every_question_of_the_api_only_reads(app):
    rules = [rule for rule in app.url_map.iter_rules() if str(rule).startswith("/api/v1/")]

    assert [str(rule) for rule in rules if rule.methods - {"GET", "HEAD", "OPTIONS"}] == []
