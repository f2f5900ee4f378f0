"""What a cluster's drill needs is named in one line, before anything is started."""

from __future__ import annotations

import pytest

from tests.cluster.conftest import cannot_run
from worker.drill.cluster import needs
from worker.errors import SettingsError


def test_missing_packages_are_named_with_the_way_to_get_them(monkeypatch):
    monkeypatch.setattr(needs, "program", lambda name: "" if name == "haproxy" else "/bin/true")
    monkeypatch.setattr(needs, "galera_library", lambda: None)

    with pytest.raises(SettingsError) as refused:
        needs.check("galera")

    assert "needs the Debian packages galera-4, haproxy; install them" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_ordinary_user_is_told_that_it_takes_root(monkeypatch):
    monkeypatch.setattr(needs, "_packages", lambda kind: [])
    monkeypatch.setattr(needs.os, "geteuid", lambda: 1000)

    with pytest.raises(SettingsError, match="run it as root"):
        needs.check("group")


@pytest.mark.parametrize(
    ("chosen", "outcome"),
    [
        ("cluster", pytest.fail.Exception),
        ("cluster and not slow", pytest.fail.Exception),
        ("not cluster", pytest.skip.Exception),
        ("", pytest.skip.Exception),
    ],
)
def test_tests_of_clusters_that_were_asked_for_fail_where_they_cannot_run(chosen, outcome):
    with pytest.raises(outcome, match="needs the Debian packages"):
        cannot_run(chosen, "it needs the Debian packages galera-4")
