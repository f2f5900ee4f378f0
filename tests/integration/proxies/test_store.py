"""Proxies as an operator keeps them: names are unique, and what is unknown is told."""

from __future__ import annotations

import pytest

from worker.errors import UsageError
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy


def test_a_name_is_given_once(database, add):
    add("a")
    with pytest.raises(UsageError, match="there is a proxy named 'a' already") as told:
        add("a")
    assert "s3cret" not in str(told.value)


def test_an_import_with_a_taken_name_adds_nothing(database, add):
    add("b")
    wanted = [Proxy("http", "h.example", 1, name=name) for name in ("a", "b")]

    with pytest.raises(UsageError, match="nothing was imported"):
        proxies.add_all(database, wanted)

    assert [row["name"] for row in proxies.all_proxies(database)] == ["b"]


@pytest.mark.parametrize("change", [proxies.enable, proxies.disable, proxies.remove])
def test_an_unknown_name_is_told(database, change):
    with pytest.raises(UsageError, match="there is no proxy named 'x'"):
        change(database, "x")
