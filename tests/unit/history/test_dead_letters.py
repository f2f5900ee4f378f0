"""The grammar of `--filter`: a few conditions that must all hold, and a clear word otherwise."""

from __future__ import annotations

import pytest

from worker.errors import UsageError
from worker.history.dead_letters import Filter, parse_filter


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("task=visit", Filter(task="visit")),
        (" task = visit , ", Filter(task="visit")),
        ("site=WWW.Example.com", Filter(site="example.com")),
        ("older-than=6h", Filter(older_than_seconds=21600.0)),
        ("newer-than=90", Filter(newer_than_seconds=90.0)),
        ("reason~Timeout, 30 s = too long", Filter(reason="Timeout, 30 s = too long")),
        ("task=a b,reason~x", Filter(task="a b", reason="x")),
    ],
)
def test_a_filter_is_read(text, meant):
    assert parse_filter(text) == meant


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        (" ", "is empty"),
        (",", "is not understood"),
        ("status=done", "'status=done' is not understood"),
        ("task", "'task' is not understood"),
        ("task=", "'task=' is not understood"),
        ("task=a;site=b, id=4", "'id=4' is not understood"),
        ("task=a,task=b", "names task twice"),
        ("older-than=soon", "is not a duration"),
        ("reason~", "is not understood"),
    ],
)
def test_what_is_no_filter_is_named(text, said):
    with pytest.raises(UsageError, match=said):
        parse_filter(text)
