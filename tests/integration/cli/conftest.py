"""What commands need: jobs of each kind, and for profiles a command line and a worker."""

from __future__ import annotations

import pytest

from tests.conftest import because
from tests.integration.profile_cli import cli
from tests.integration.profile_fixtures import add, worker

__all__ = ["add", "cli", "worker"]


@pytest.fixture
def one_of_each(queue, claim_as):
    """A job of each kind: done, failed, waiting to be tried again, in progress, pending."""
    done = queue.enqueue("visit", {"url": "https://example.com/done"})
    queue.complete(claim_as(), {"title": "Näher ☂"})
    failed = queue.enqueue("visit", {"url": "https://example.com/failed"})
    why = because("HTTP 404", last_error="Traceback\n  Fail: \x1b[31mHTTP 404", evidence="2/1")
    queue.fail(claim_as(), why)
    waiting = queue.enqueue("visit", {"url": "https://example.com/waiting"})
    queue.retry(claim_as(), because("HTTP 503"), delay_seconds=100)
    busy = queue.enqueue("visit", {"url": "https://example.com/busy"})
    claim_as(slot=3, total=4)
    pending = queue.enqueue("visit", {"url": "https://example.com/pending"})
    return done, failed, waiting, busy, pending
