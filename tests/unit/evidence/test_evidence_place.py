"""The place of evidence is the one that was noted with the attempt, whatever is set today."""

from __future__ import annotations

import socket

import pytest

from worker.evidence.evidence_place import place


@pytest.mark.parametrize(
    ("noted", "shown"),
    [
        ({"evidence": None, "evidence_dir": "/a", "evidence_host": "h"}, None),
        ({"evidence": "7/2", "evidence_dir": None, "evidence_host": None}, "/today/7/2"),
        ({"evidence": "7/2", "evidence_dir": "/then", "evidence_host": None}, "/then/7/2"),
        ({"evidence": "7/2", "evidence_dir": "/then", "evidence_host": socket.gethostname()},
         "/then/7/2"),
        ({"evidence": "7/2", "evidence_dir": "/then", "evidence_host": "elsewhere"},
         "/then/7/2 on elsewhere"),
    ],
)  # fmt: skip
def test_evidence_is_where_it_was_written(monkeypatch: pytest.MonkeyPatch, noted, shown):
    monkeypatch.setenv("NIGHTSHIFT_ERRORS_DIR", "/today")

    assert place(noted) == shown
