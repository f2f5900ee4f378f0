"""Endpoints in every spelling, presets that hold together, and turns that keep their distance."""

from __future__ import annotations

import multiprocessing
import re
import time
from pathlib import Path

import pytest

from worker.browser.providers.endpoint import normalise
from worker.browser.providers.pace import Pace
from worker.browser.providers.preset import load_preset, preset_names
from worker.browser.providers.spec import ProfileSpec
from worker.browser.providers.vendor_api import VendorApi
from worker.errors import ProviderError, SettingsError


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        ("55513", "http://127.0.0.1:55513"),
        (9222, "http://127.0.0.1:9222"),
        ("localhost:9222", "http://localhost:9222"),
        ("[::1]:9222", "http://[::1]:9222"),
        ("ws://h:1/devtools/browser/x?token=a", "ws://h:1/devtools/browser/x?token=a"),
        ("https://h/", "https://h/"),
        *[(text, None) for text in ("", "0", "99999", "h", "ftp://h:1", "ws://", "a b:1")],
    ],
)
def test_an_endpoint_is_understood_in_every_usual_spelling(endpoint, expected):
    assert normalise(endpoint) == expected


def test_there_is_a_preset_for_every_vendor():
    assert preset_names() == [
        *("adspower", "gologin", "kameleo", "morelogin", "multilogin", "undetectable"),
    ]


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_says_where_the_endpoint_is_and_names_its_variables(name):
    preset = load_preset(name)

    assert bool(preset.endpoint_paths) != bool(preset.endpoint_template)
    prefix = f"NIGHTSHIFT_{name.upper()}_"
    assert preset.url_variable == f"{prefix}URL"
    assert all(variable.startswith(prefix) for variable in preset.variables.values())


def test_an_unknown_provider_is_answered_with_the_known_ones():
    with pytest.raises(SettingsError, match="local, cdp, adspower"):
        load_preset("../kameleo")


def test_a_profile_shows_neither_its_endpoint_nor_its_options():
    spec = ProfileSpec(1, "cdp", endpoint="ws://h/?token=abc", options={"key": "abc"})

    assert "abc" not in repr(spec) + str(spec)


def test_a_state_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    api = VendorApi(load_preset("adspower"), {}, tmp_path / "file")
    spec = ProfileSpec(1, "adspower", vendor_id="p", endpoint="127.0.0.1:1")
    with pytest.raises(ProviderError, match=re.escape(f"{tmp_path}/file/vendor-adspower")):
        api.call(api.preset.start, spec, time.monotonic() + 1)


def test_a_credential_beyond_ascii_is_sent_and_not_shown(tmp_path):
    environ = {"NIGHTSHIFT_GOLOGIN_AUTHORIZATION": "pässword\n☃"}
    api = VendorApi(load_preset("gologin"), environ, tmp_path)
    spec = ProfileSpec(1, "gologin", vendor_id="p", endpoint="1")
    with pytest.raises(ProviderError) as caught:
        api.call(api.preset.start, spec, time.monotonic() + 1)

    assert caught.value.kind == "unreachable"
    assert "ssword" not in str(caught.value)


def take_turns(path: Path, results: multiprocessing.Queue) -> None:
    pace = Pace(path, 0.1)
    for _ in range(3):
        pace.take_turn()
        results.put(time.monotonic())


def test_processes_keep_the_interval_among_them(tmp_path):
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    path = tmp_path / "state" / "x.turn"
    Pace(path, 0.1).take_turn()
    first = float(path.read_text(encoding="ascii"))
    children = [context.Process(target=take_turns, args=(path, results)) for _ in range(3)]
    for child in children:
        child.start()
    times = sorted(results.get(timeout=20) for _ in range(9))
    for child in children:
        child.join()

    # A turn is never early; on a busy machine it may be late, but that moves no other.
    for number, moment in enumerate(times, 1):
        assert moment - first >= 0.1 * number - 0.001


def test_a_turn_too_far_off_is_not_taken(tmp_path):
    pace = Pace(tmp_path / "x.turn", 30)
    assert pace.take_turn(0) is None

    wait = pace.take_turn(1)
    assert wait is not None
    assert 20 < wait <= 30
    again = pace.take_turn(1)
    assert again is not None
    assert again <= wait


@pytest.mark.parametrize("text", ["", "nonsense", "1e12", "nan"])
def test_a_stamp_that_cannot_be_meant_holds_nobody_up(tmp_path, text):
    path = tmp_path / "x.turn"
    path.write_text(text)
    started = time.monotonic()

    assert Pace(path, 30).take_turn(1) is None
    assert time.monotonic() - started < 15
