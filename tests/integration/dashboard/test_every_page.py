"""What every page has, wherever the operator is."""

from __future__ import annotations

import pytest

from tests.dashboard_pages import PAGES
from tests.dashboard_site import send
from worker.queue import pause

SHOWN = sorted({page for page in PAGES if not page.startswith("/api/") and "{ago}" not in page})


@pytest.mark.parametrize("path", SHOWN)
def test_everything_can_be_paused_and_resumed_from_every_page(site, path):
    client = site.client()
    assert 'action="/pause"' in client.get(path).text

    answer = send(client, "/pause", reason="a look", back=path)
    try:
        assert answer.location == path
        assert 'action="/resume"' in client.get(path).text
        assert "by local (dashboard): “a look”" in client.get(path).text
    finally:
        pause.resume(site.db)
