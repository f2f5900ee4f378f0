"""What a profile's folder holds is told by its files, also by broken ones."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from worker.browser.providers.profile_folder import COOKIE_STORES, Contents, contents_of


def make_store(path: Path, cookies: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE cookies (name TEXT)")
    connection.executemany("INSERT INTO cookies VALUES (?)", [("session",)] * cookies)
    connection.commit()
    connection.close()


def test_a_folder_that_is_not_there_or_empty_holds_nothing(tmp_path):
    assert contents_of(tmp_path / "gone") is Contents.NONE
    assert contents_of(tmp_path) is Contents.NONE


@pytest.mark.parametrize("place", COOKIE_STORES)
def test_cookies_are_found_where_chromium_keeps_them(tmp_path, place):
    make_store(tmp_path / place, cookies=1)

    assert contents_of(tmp_path) is Contents.COOKIES


def test_a_store_that_is_empty_missing_or_broken_has_no_cookies(tmp_path):
    store = tmp_path / COOKIE_STORES[0]
    (tmp_path / "Local State").write_text("{}")
    assert contents_of(tmp_path) is Contents.FOLDER
    make_store(store, cookies=0)
    assert contents_of(tmp_path) is Contents.FOLDER
    store.write_bytes(b"")
    assert contents_of(tmp_path) is Contents.FOLDER
    store.write_bytes(b"no database at all" * 100)
    store.with_name("Cookies-journal").write_bytes(b"")
    assert contents_of(tmp_path) is Contents.FOLDER


def test_a_store_that_was_being_written_is_given_the_benefit_of_the_doubt(tmp_path):
    store = tmp_path / COOKIE_STORES[0]
    store.parent.mkdir(parents=True)
    store.write_bytes(b"half of a page" * 100)
    store.with_name("Cookies-journal").write_bytes(b"the other half")

    assert contents_of(tmp_path) is Contents.COOKIES
