"""Neither the driver nor the browser is told a secret of the pool by its environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker.browser.options import BrowserOptions, find_browser
from worker.browser.providers.spec import ProfileSpec
from worker.browser.session import BrowserSession
from worker.system.process_tree import descendants

SECRETS = {
    "http_proxy": "http://me:hunter2@127.0.0.1:1",
    "HTTPS_PROXY": "http://me:hunter2@127.0.0.1:1",
    "SENTRY_DSN": "https://hunter2@sentry.test/1",
    "DATABASE_URL": "mysql://me:hunter2@db.test/n",
    "MYSQL_PASSWORD": "hunter2",
    "NIGHTSHIFT_WEBHOOK_SECRET": "hunter2",
    "SHOP_PASSWORD": "hunter2",
    "BROKER": "amqp://me:hunter2@mq.test",
}


@pytest.fixture(params=["ordinary", "of a local profile"])
def environments(tmp_path, monkeypatch, request) -> dict[int, bytes]:
    """What the driver, the browser and all their processes were started with."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    session = BrowserSession(BrowserOptions(tmp_dir=tmp_path / "w", executable=find_browser()))
    session.open()
    try:
        ordinary = session.processes()[1]
        if request.param != "ordinary":
            session.open_profile(ProfileSpec("p1", "local", folder=tmp_path / "p1"))
            assert session.processes()[1] not in (ordinary, None)
        session.page_for_job().set_content("<h1>Hello</h1>")
        driver, browser = session.processes()
        pids = [driver.pid, *(each.pid for each in descendants(driver.pid))]
        assert browser.pid in pids
        return {pid: Path(f"/proc/{pid}/environ").read_bytes() for pid in pids}
    finally:
        session.close()


def test_no_process_of_a_browser_has_a_secret_in_its_environment(environments):
    assert len(environments) >= 3
    assert [pid for pid, text in environments.items() if b"hunter2" in text] == []
    # The proxy itself is known there: a pool behind one could not reach anything otherwise.
    assert any(b"http_proxy=http://127.0.0.1:1" in text for text in environments.values())
