"""No page shows a stranger's marks that turn text around, or characters that nobody sees."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.dashboard_pages import PAGES
from tests.dashboard_site import Site, made

MARKS = "\u202egnp.exe\u2066 \u200b\x9b31m \x1b[31m"
SHOWN = [page for page in PAGES if "{ago}" not in page]


@pytest.fixture(scope="module")
def site(server, tmp_path_factory) -> Iterator[Site]:
    with made(server, tmp_path_factory.mktemp("marks"), f"told {MARKS}") as found:
        yield found


@pytest.mark.parametrize("path", SHOWN)
def test_a_page_has_only_characters_that_people_see(site, path):
    text = site.client().get(path).text

    assert [char for char in text if not char.isprintable() and char not in "\n\t"] == []


def test_the_texts_are_there_all_the_same(site):
    assert "?gnp.exe?" in site.client().get("/errors").text


def test_the_api_gives_programs_the_value(site):
    answer = site.client().get("/api/v1/jobs/61").text

    assert "\u202egnp.exe\u2066" in json.dumps(json.loads(answer), ensure_ascii=False)
