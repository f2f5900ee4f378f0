"""The parts of a face that follow from others."""

from __future__ import annotations

import pytest

from worker.browser.face import accept_language, languages_of, screen_of, user_agent


@pytest.mark.parametrize(
    ("locale", "languages", "header"),
    [
        ("de-DE", ("de-DE", "de", "en"), "de-DE,de;q=0.9,en;q=0.8"),
        ("en-GB", ("en-GB", "en"), "en-GB,en;q=0.9"),
        ("en", ("en",), "en"),
        ("zh-Hant-TW", ("zh-Hant-TW", "zh", "en"), "zh-Hant-TW,zh;q=0.9,en;q=0.8"),
    ],
)
def test_languages_follow_from_the_locale(locale, languages, header):
    assert languages_of(locale) == languages
    assert accept_language(languages) == header


@pytest.mark.parametrize(
    ("viewport", "screen"),
    [
        ((1280, 720), (1440, 900)),
        ((1920, 945), (1920, 1080)),
        ((1920, 1080), (2560, 1440)),
        ((7000, 4000), (7000, 4131)),
    ],
)
def test_a_window_fits_on_its_screen(viewport, screen):
    assert screen_of(viewport) == screen


def test_a_user_agent_names_the_major_version_alone():
    assert user_agent("linux", 156) == (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/156.0.0.0 Safari/537.36"
    )
