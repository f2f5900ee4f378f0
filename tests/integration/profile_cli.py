"""The commands about profiles, as a person calls them."""

from __future__ import annotations

from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of

SECRET = "ws://me:hunter2@127.0.0.1:9222/devtools/s3cr3tpath?token=t0k3n"


@pytest.fixture
def cli(settings, database, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def said(answer) -> str:
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


def refused(answer) -> str:
    assert (answer.returncode, answer.stdout) == (2, ""), answer
    return answer.stderr.strip()


def ids(database) -> list[str]:
    rows = database.fetch_all("list_profiles", state=None, account_id=None)
    return [row["id"] for row in rows]
