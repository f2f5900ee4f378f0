"""One worker's way through the endpoints: its own first, another while that rests, home again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from worker.browser.elsewhere import browsers
from worker.browser.elsewhere.browsers import Browsers
from worker.browser.elsewhere.config import take
from worker.browser.elsewhere.connecting import Connected
from worker.browser.elsewhere.troubles import EndpointFailed
from worker.browser.options import BrowserOptions
from worker.errors import BrowserAway, LaunchFailed


class Connector:
    """Connects but to those that are out of order, and writes down whom it was sent to."""

    def __init__(self) -> None:
        self.broken: dict[str, EndpointFailed] = {}
        self.asked: list[str] = []

    def prepare(self) -> None:
        pass

    def connect(self, place) -> Connected:
        self.asked.append(place.label)
        if place.label in self.broken:
            raise self.broken[place.label]
        return Connected(SimpleNamespace(), "150.0", True, "")


@pytest.fixture
def connector():
    return Connector()


@pytest.fixture
def make(tmp_path):
    settings = take(["ws://a", "ws://b"], {})

    def make(slot: int) -> Browsers:
        return Browsers(BrowserOptions(tmp_path / f"w{slot}", slot=slot), settings)

    return make


def test_a_failing_endpoint_rests_and_its_slots_move(make, connector):
    connector.broken["ws://a"] = EndpointFailed("down")
    first, third = make(0), make(2)

    first.open(connector, frozenset())
    third.open(connector, frozenset())

    assert connector.asked == ["ws://a", "ws://b", "ws://b"], "what one learns, all know"
    assert first.facts["endpoint"] == "ws://b"


def test_while_none_gives_a_browser_one_waits(make, connector):
    connector.broken = {each: EndpointFailed("full") for each in ("ws://a", "ws://b")}

    with pytest.raises(BrowserAway, match="ws://a: full; ws://b: full") as away:
        make(0).open(connector, frozenset())

    assert away.value.is_passing
    assert 0.5 <= away.value.after <= 2
    with pytest.raises(BrowserAway, match="2 of 2 are left alone"):
        make(1).open(connector, frozenset())


def test_what_only_a_person_can_change_is_not_waited_for(make, connector):
    wrong = EndpointFailed("it runs Playwright 1.40", is_lasting=True)
    connector.broken = {"ws://a": wrong, "ws://b": wrong}

    for slot in (0, 1):
        with pytest.raises(LaunchFailed, match=r"1\.40") as failed:
            make(slot).open(connector, frozenset())
        assert not failed.value.is_passing


def test_behind_proxies_a_browser_that_is_not_sealed_is_refused(make, connector):
    with pytest.raises(LaunchFailed, match="would go out past them"):
        make(0).open(connector, frozenset({"proxy.test"}))


def test_a_moved_worker_goes_home_when_its_endpoint_is_back(make, connector, monkeypatch):
    connector.broken["ws://a"] = EndpointFailed("down")
    worker = make(0)
    worker.open(connector, frozenset())
    monkeypatch.setattr(browsers, "HOME_SECONDS", 0.0)
    monkeypatch.setattr(browsers, "is_reachable", lambda *_: True)
    assert not worker.is_home_back, "it rests"

    worker._rests.succeed(0)

    assert worker.is_home_back
    connector.broken.clear()
    worker.open(connector, frozenset())
    assert worker.facts["endpoint"] == "ws://a"
    assert not worker.is_home_back


def test_an_endpoint_whose_browser_is_of_no_use_rests_too(make, connector):
    worker = make(0)
    worker.open(connector, frozenset())

    assert isinstance(worker.blame("nothing opens"), BrowserAway)

    worker.open(connector, frozenset())
    assert worker.facts["endpoint"] == "ws://b"
