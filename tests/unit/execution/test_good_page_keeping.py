"""Which jobs' pages are kept, how often, and at what share of a worker's time.

The browser is left out: what it gives and what that costs is said here.
"""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from worker.browser.good_page import TakenPage
from worker.database_settings import DatabaseSettings
from worker.evidence.good_pages import GoodPages
from worker.execution import good_page_keeping
from worker.execution.good_page_keeping import GoodPageKeeping, is_public
from worker.execution.time_share import TimeShare
from worker.models import Claim, Route
from worker.settings import RunSettings

DATABASE = DatabaseSettings()


def claim(job_id=1, task="price", site="shop.test", **fields):
    return Claim(job_id, 1, 1, 1, 4, task, "{}", site=site, **fields)


class Night:
    """A worker whose pages cost what a test says; its clock moves by that alone."""

    def __init__(self, errors_dir, monkeypatch, keep_good="recent"):
        self.now, self.cost, self.takes, self.is_answering = 5000.0, 0.15, 0, True
        self.session = SimpleNamespace(page=object(), is_alive=True)
        settings = RunSettings(DATABASE, errors_dir=errors_dir, keep_good=keep_good)
        self.keeping = GoodPageKeeping(settings, self.session, run_id=9)
        self.keeping.time = TimeShare(good_page_keeping.SHARE, lambda: self.now)
        monkeypatch.setattr(good_page_keeping.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(good_page_keeping.good_page, "is_worth_taking", lambda _: True)
        monkeypatch.setattr(good_page_keeping.good_page, "take", self._take)

    def _take(self, _):
        self.takes += 1
        self.now += self.cost
        at = "2026-02-01T01:12:03Z"
        return TakenPage(b"jpeg", b"html", "http://x", 200, at) if self.is_answering else None


@pytest.fixture
def errors_dir(tmp_path):
    return tmp_path / "errors"


@pytest.fixture
def night(errors_dir, monkeypatch):
    return Night(errors_dir, monkeypatch)


def kept(errors_dir):
    found = [json.loads(path.read_bytes()) for path in errors_dir.glob("good/*/*/good.json")]
    return sorted(facts["job_id"] for facts in found)


def test_one_page_of_a_task_and_site_is_kept(night, errors_dir):
    for job_id in range(1, 50):
        night.keeping.keep(claim(job_id))
        night.now += 10

    assert (night.takes, kept(errors_dir)) == (1, [1])
    (facts,) = errors_dir.glob("good/*/*/good.json")
    told = json.loads(facts.read_bytes())
    assert (told["run_id"], told["task"], told["site"]) == (9, "price", "shop.test")


def test_however_many_sites_there_are_it_takes_one_percent(night):
    for number in range(4_000):
        night.now += 0.8
        night.keeping.keep(claim(number, site=f"{number}.test"))

    whole = night.now - 5000.0
    assert 0.009 < night.keeping.time.spent_seconds / whole <= 0.0105
    assert night.takes > 100


def test_a_page_that_does_not_answer_is_not_asked_again_for_ten_minutes(night, errors_dir):
    night.is_answering = False
    for _ in range(59):
        night.keeping.keep(claim())
        night.now += 10

    assert (night.takes, kept(errors_dir)) == (1, [])


def test_a_browser_that_was_lost_over_it_is_paid_for(night):
    night.is_answering, night.session.is_alive = False, False
    night.keeping.keep(claim())

    assert night.keeping.time.spent_seconds > good_page_keeping.RESTART_SECONDS


def test_a_worker_beside_it_takes_none_and_looks_again(night, errors_dir):
    with GoodPages(errors_dir, DATABASE.key).taking():
        night.keeping.keep(claim(1))
        assert night.takes == 0
    night.now += 1
    night.keeping.keep(claim(2))

    assert kept(errors_dir) == [2]


def test_nothing_is_kept_if_nobody_wants_it(errors_dir, monkeypatch):
    night = Night(errors_dir, monkeypatch, keep_good="never")
    night.keeping.keep(claim())

    assert night.takes == 0
    assert not errors_dir.exists()


def test_a_folder_that_cannot_be_written_is_no_matter(night, errors_dir):
    errors_dir.write_text("a file where a folder should be")
    night.keeping.keep(claim())

    assert night.keeping.put_into(errors_dir / "1" / "1", claim()) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"account_id": "a1"}, {"profile_id": "p1"}, {"route": Route(profile="p1")},
        {"route": Route(account="a1")},
    ],
)  # fmt: skip
def test_a_job_of_an_account_is_neither_kept_nor_compared(night, errors_dir, tmp_path, fields):
    night.keeping.keep(claim(1))
    night.now += 1000
    night.keeping.keep(claim(2, task="other", **fields))

    assert not is_public(claim(**fields))
    assert kept(errors_dir) == [1]
    assert night.keeping.put_into(tmp_path, claim(3, **fields)) is None
    assert night.keeping.put_into(tmp_path, claim(3, route=Route(proxy="de-3")))["job_id"] == 1


def test_a_job_that_never_had_a_page_is_compared_with_nothing(night, tmp_path):
    night.keeping.keep(claim(1))
    night.session.page = None

    assert night.keeping.put_into(tmp_path, claim(2)) is None


def test_jobs_without_a_site_have_a_page_of_their_task(night, errors_dir, tmp_path):
    night.keeping.keep(claim(1, site=None))

    assert night.keeping.put_into(tmp_path, claim(2, site=None))["job_id"] == 1
    assert night.keeping.put_into(tmp_path, claim(2, site="shop.test")) is None
