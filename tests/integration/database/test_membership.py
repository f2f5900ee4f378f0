"""One server alone is no cluster, whichever it is, and is asked about that once."""

from __future__ import annotations

from worker.database import membership


def test_one_server_is_a_member_of_nothing(database):
    assert not database.is_cluster


def test_a_server_that_is_no_member_is_not_asked_again(connect, monkeypatch):
    db = connect()
    assert not db.is_cluster
    monkeypatch.setattr(membership, "_QUESTION", "this is not SQL")

    db.close()
    db.ping()

    assert not db.is_cluster


def test_one_server_cannot_be_told_to_catch_up_and_is_connected_anew(connect):
    db = connect()
    before = db.run_statement("SELECT CONNECTION_ID() AS id")

    assert not db.catch_up()

    assert db.run_statement("SELECT CONNECTION_ID() AS id") != before
