"""Presets hold together; a project's own are read, and what is wrong in one is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from worker.browser.providers.answer import Condition
from worker.browser.providers.preset import IfRunning
from worker.browser.providers.preset_file import PRESETS, load_preset, preset_names
from worker.errors import SettingsError

OWN = """
title = "My vendor"
base_url = "http://127.0.0.1:7777"
url_variable = "MY_VENDOR_URL"
endpoint_paths = ["port"]
[start]
method = "POST"
path = "/open/{id}"
[stop]
method = "POST"
path = "/close/{id}"
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NIGHTSHIFT_PROVIDERS_DIR", str(tmp_path))

    def write(text: str, name: str = "mine") -> Path:
        path = tmp_path / f"{name}.toml"
        path.write_text(text)
        return path

    return write


def test_there_is_a_preset_for_every_vendor():
    assert preset_names() == [
        *("adspower", "bitbrowser", "browserbase", "dolphin", "gologin", "gologin_cloud"),
        *("kameleo", "morelogin", "multilogin", "nstbrowser", "octo", "undetectable"),
    ]


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_says_where_the_endpoint_is_and_names_its_variables(name):
    preset = load_preset(name)

    assert bool(preset.endpoint_paths) != bool(preset.endpoint_template)
    prefix = f"NIGHTSHIFT_{name.upper()}_"
    assert preset.url_variable == f"{prefix}URL"
    assert all(variable.startswith(prefix) for variable in preset.variables.values())
    assert preset.file == PRESETS / f"{name}.toml"


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_says_what_it_was_checked_against(name):
    checked = load_preset(name).checked

    assert checked.against
    page = (Path(__file__).parents[4] / "docs/providers.md").read_text(encoding="utf-8")
    assert f"| `{name}` |" in page
    # The page tells of everything that only other people's clients tell.
    assert all(" ".join(each.split()) in " ".join(page.split()) for each in checked.third_party)


def test_what_was_found_of_the_vendors_is_in_their_presets():
    assert load_preset("kameleo").start_seconds == 180
    assert load_preset("multilogin").min_interval_seconds == 1.2
    assert load_preset("morelogin").min_interval_seconds == 0.5
    assert load_preset("gologin").one_at_a_time
    assert load_preset("adspower").base_url == "http://127.0.0.1:50325"
    assert load_preset("adspower").if_running is IfRunning.ADOPT
    assert load_preset("browserbase").session_path == "id"


@pytest.mark.parametrize("name", ["../kameleo", "nobody"])
def test_an_unknown_provider_is_answered_with_the_known_ones(name):
    with pytest.raises(SettingsError, match="local, cdp, adspower"):
        load_preset(name)


def test_a_projects_own_vendor_is_read(own):
    own(OWN + '[stop.success]\npath = "ok"\nvalues = [true]\n')

    preset = load_preset("mine")

    assert "mine" in preset_names()
    assert preset.stop.success == Condition("ok", (True,))
    assert preset.if_running is IfRunning.RESTART


def test_a_projects_own_takes_the_place_of_ours(own):
    path = own(OWN, "kameleo")

    assert load_preset("kameleo").file == path
    assert preset_names().count("kameleo") == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("title = ", "cannot be read"),
        (OWN.replace('title = "My vendor"', ""), "title is missing"),
        (OWN.replace('"POST"\npath = "/open', '"FETCH"\npath = "/open'), "start.method must be"),
        (OWN.replace('"/open/{id}"', '"http://x/"'), "start.path begins with /"),
        (OWN + "success = 1\n", "stop.success must be a table"),
        (OWN + "[stop.success]\nvalues = [1]\n", "stop.success.path is missing"),
        (OWN + '[locked]\ntext = "("\n', "locked.text is no regular expression"),
        (OWN + "[locked]\nstatuses = [7]\n", "locked.statuses must be a list of HTTP statuses"),
        (OWN + "[locked]\nstate = 1\n", "locked.state is no field; there are field, statuses"),
        ("colour = 1\n" + OWN, "colour is no field"),
        ("start_seconds = -1\n" + OWN, "start_seconds must be a number from 1 to 1800"),
        ('one_at_a_time = "yes"\n' + OWN, "one_at_a_time must be true or false"),
        (OWN.replace('endpoint_paths = ["port"]', ""), "endpoint_paths says where"),
        ('endpoint_template = "ws://{host}"\n' + OWN, "endpoint_template stands alone"),
        (
            OWN + '[find]\nmethod = "GET"\npath = "/list"\nsession_path = "0.id"\n',
            "find is for vendors with a session_path",
        ),
    ],
)
def test_what_is_wrong_is_one_line_that_names_file_and_field(own, text, told):
    path = own(text)
    with pytest.raises(SettingsError) as caught:
        load_preset("mine")

    assert re.match(rf"{re.escape(str(path))}:? ", str(caught.value))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["local", "Mine", "x" * 33])
def test_a_name_that_no_provider_may_have_is_refused(own, name):
    own(OWN, name)
    with pytest.raises(SettingsError, match="rename the file"):
        load_preset(name)


def test_the_example_in_the_manual_is_read(own):
    page = (Path(__file__).parents[4] / "docs/providers.md").read_text(encoding="utf-8")
    example = page.partition("```toml\n")[2].partition("```")[0]
    own(example)

    preset = load_preset("mine")

    assert preset.status is not None
    assert preset.start.when["headless"].json == {"headless": True}
