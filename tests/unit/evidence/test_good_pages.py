"""One good page is kept of each task and site, in turns, within its room, and never half."""

from __future__ import annotations

import json
import os
import shutil
import stat
import time

import pytest

from worker.evidence import good_pages, prune
from worker.evidence.good_pages import INTERVAL_SECONDS, GoodPages, html_of
from worker.system.private_files import open_inside


@pytest.fixture
def pages(tmp_path):
    return GoodPages(tmp_path / "errors", "0123456789abcdef")


@pytest.fixture
def evidence(tmp_path):
    folder = tmp_path / "errors" / "7" / "1"
    folder.mkdir(parents=True)
    return folder


def put(pages, job_id, task="price", site="shop.test", html=b"<p class=price>"):
    with pages.taking() as is_ours:
        assert is_ours
        pages.put(task, site, {"job_id": job_id}, f"picture {job_id}".encode(), html)


def age(pages, seconds, task="price", site="shop.test"):
    then = time.time() - seconds
    for path in pages._place(task, site).iterdir():
        os.utime(path, (then, then))


def test_a_page_is_due_when_there_is_none_or_it_is_ten_minutes_old(pages):
    assert pages.fresh_seconds("price", "shop.test") == 0
    put(pages, 1)

    assert 590 < pages.fresh_seconds("price", "shop.test") <= INTERVAL_SECONDS
    assert pages.fresh_seconds("price", "other.test") == 0
    assert pages.fresh_seconds("visit", "shop.test") == 0
    age(pages, 601)
    assert pages.fresh_seconds("price", "shop.test") == 0
    age(pages, -3600)
    assert pages.fresh_seconds("price", "shop.test") == 0


def test_only_one_of_many_takes_a_page_at_a_time(pages, tmp_path):
    other = GoodPages(tmp_path / "errors", "0123456789abcdef")
    with pages.taking() as is_ours, other.taking() as is_theirs:
        assert (is_ours, is_theirs) == (True, False)
    with other.taking() as is_theirs:
        assert is_theirs


def test_a_failure_keeps_the_page_when_a_newer_one_replaces_it(pages, evidence):
    put(pages, 1, html=b"<p>one")

    facts = pages.put_into(evidence, "price", "shop.test")
    put(pages, 2, html=b"<p>two")

    assert facts["job_id"] == 1
    assert (evidence / "good.jpg").read_bytes() == b"picture 1"
    assert html_of(evidence, facts) == "<p>one"
    assert pages.put_into(evidence, "price", "shop.test")["job_id"] == 2
    assert (evidence / "good.jpg").read_bytes() == b"picture 2"


def test_a_hundred_failures_share_one_page_on_disk(pages, tmp_path):
    put(pages, 1, html=b"x" * 100_000)
    for number in range(100):
        folder = tmp_path / "errors" / str(number) / "1"
        folder.mkdir(parents=True)
        pages.put_into(folder, "price", "shop.test")

    assert (tmp_path / "errors" / "5" / "1" / "good.html").stat().st_nlink == 101
    total = prune.plan(tmp_path / "errors", max_bytes=10**9).kept_bytes
    assert total < 100_000 + 101 * 3 * 4096 + 101 * 4096


def test_where_files_cannot_be_linked_they_are_copied(pages, evidence, monkeypatch):
    def refuse(*_):
        raise OSError(18, "Invalid cross-device link")

    put(pages, 1)
    monkeypatch.setattr(os, "link", refuse)

    assert pages.put_into(evidence, "price", "shop.test")["job_id"] == 1
    assert (evidence / "good.jpg").read_bytes() == b"picture 1"
    assert (evidence / "good.jpg").stat().st_nlink == 1


def test_without_a_page_the_evidence_gets_none(pages, evidence):
    put(pages, 1)

    assert pages.put_into(evidence, "price", "other.test") is None
    assert list(evidence.iterdir()) == []


def test_two_databases_do_not_mix(pages, evidence, tmp_path):
    put(pages, 1)

    assert GoodPages(tmp_path / "errors", "other").put_into(evidence, "price", "shop.test") is None


def test_html_that_is_not_whole_is_not_read(pages, evidence):
    put(pages, 1, html=b"<p>one")
    facts = pages.put_into(evidence, "price", "shop.test")

    (evidence / "good.html").write_bytes(b"")
    assert html_of(evidence, facts) is None
    put(pages, 2, html=None)
    facts = pages.put_into(evidence, "price", "shop.test")
    assert not (evidence / "good.html").exists()
    assert html_of(evidence, facts) is None


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"job_id": 1}', b"\xff"])
def test_a_damaged_page_is_none(pages, evidence, damage):
    put(pages, 1)
    (pages._place("price", "shop.test") / "good.json").write_bytes(damage)

    assert pages.put_into(evidence, "price", "shop.test") is None


def test_the_oldest_go_when_there_are_too_many(pages, monkeypatch):
    monkeypatch.setattr(good_pages, "MAX_PAGES", 3)
    for number in range(6):
        put(pages, number, site=f"{number}.test")
        age(pages, 100 - number, site=f"{number}.test")

    left = [n for n in range(6) if pages._facts("price", f"{n}.test")]
    assert left == [3, 4, 5]


def test_the_oldest_go_when_they_take_too_much_room(pages, monkeypatch):
    monkeypatch.setattr(good_pages, "MAX_BYTES", 250_000)
    for number in range(5):
        put(pages, number, site=f"{number}.test", html=b"x" * 100_000)
        age(pages, 100 - number, site=f"{number}.test")

    assert [n for n in range(5) if pages._facts("price", f"{n}.test")] == [3, 4]


def test_what_a_killed_worker_left_is_gone_with_the_next_page(pages):
    put(pages, 1)
    unfinished = pages._folder / ".new-deadbeef"
    unfinished.mkdir()
    put(pages, 2)

    assert not unfinished.exists()


def test_nobody_else_may_read_them_and_doctor_would_know(pages, tmp_path):
    put(pages, 1)
    for path in (pages._folder.parent, pages._folder, pages._place("price", "shop.test")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700

    (tmp_path / "errors").chmod(0o755)
    assert open_inside(tmp_path / "errors") is None
    pages._folder.parent.chmod(0o755)
    assert open_inside(tmp_path / "errors") == pages._folder.parent


def test_a_hostile_name_leads_nowhere_else(pages, tmp_path):
    put(pages, 1, task="../../x", site="../\x00\ud800/etc")
    place = pages._place("../../x", "../\x00\ud800/etc")

    assert place.parent == tmp_path / "errors" / "good" / "0123456789abcdef"
    assert json.loads((place / "good.json").read_bytes())["job_id"] == 1


def test_prune_knows_them(pages, tmp_path):
    put(pages, 1)
    put(pages, 2, site="new.test")
    age(pages, 40 * 86400)
    os.utime(pages._place("price", "shop.test"), (1, 1))
    pruning = prune.plan(tmp_path / "errors", older_than_seconds=30 * 86400)
    gone = list(prune.carry_out(pruning))

    assert (len(gone), prune.good_pages_among(gone), pruning.kept_good_pages) == (1, 1, 1)
    assert pages._facts("price", "shop.test") is None
    assert pages._facts("price", "new.test")["job_id"] == 2
    shutil.rmtree(tmp_path / "errors" / "good")
    assert list(good_pages.folders(tmp_path / "errors")) == []
