"""The journal is replayed under the fence: on a server that lags, not before it has the claim."""

from __future__ import annotations

import os
import time

from worker.database import freshness
from worker.models import Ending, Outcome
from worker.queue import journal


def test_an_outcome_in_the_journal_is_kept_for_a_server_that_lags(queue, unapplied, tmp_path):
    journal.write(tmp_path, 1, unapplied, Ending(Outcome.DONE, result="{}"))
    ((_, entry),) = journal.read(tmp_path)

    assert journal.replay(queue, entry) is None
    assert entry.path.exists()


def test_an_outcome_whose_claim_no_server_has_is_dropped_after_a_while(
    queue, unapplied, tmp_path, caplog
):
    path = journal.write(tmp_path, 1, unapplied, Ending(Outcome.DONE, result="{}"))
    long_ago = time.time() - 10 * freshness.STALE_SECONDS
    os.utime(path, (long_ago, long_ago))
    ((_, entry),) = journal.read(tmp_path)

    assert journal.replay(queue, entry) is None
    assert not path.exists()
    assert "has never heard of its claim" in caplog.text
