"""Presets hold together, and an unknown one is answered with the known ones."""

from __future__ import annotations

import pytest

from worker.browser.providers.preset import load_preset, preset_names
from worker.errors import SettingsError


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
