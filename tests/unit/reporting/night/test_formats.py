"""Whatever strangers wrote, each format shows it and none obeys it."""

from __future__ import annotations

import json
import re
import stat
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from tests.unit.reporting.night.hostile_night import EVIL, HUGE, hostile_night
from worker.reporting.charts.marks import CHARACTERS, Mark
from worker.reporting.night import formats
from worker.reporting.night.as_html import policy, sheets
from worker.reporting.night.as_text import WIDTH
from worker.reporting.night.html_parts import code
from worker.reporting.night.model import Batches, GroupTotals

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u200b]")
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "main", "p", "h1", "h2", "h3", "span"),
    *("div", "ol", "li", "b", "br", "code", "table", "thead", "tbody", "tr", "th", "td", "img"),
    *("svg", "symbol", "pattern", "circle", "path", "rect", "line", "text", "tspan", "use", "g"),
    *("desc",),
}


class Seen(HTMLParser):
    """The elements and attributes that a browser would find."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(attrs)


@pytest.mark.parametrize("evil", [EVIL, HUGE], ids=["evil", "huge"])
def test_html_holds_no_element_and_no_attribute_that_is_not_ours(evil):
    text = formats.WRITERS["html"](hostile_night(evil, b"\x89PNG\r\n\x1a\n"))
    seen = Seen(text)

    assert seen.tags <= ALLOWED
    names = {name for name, _ in seen.attributes}
    assert not {name for name in names if name.startswith("on")}
    assert "style" not in names
    places = {value for name, value in seen.attributes if name in ("href", "src")}
    ours = ("#m-", "data:image/png;base64,", "data:image/jpeg;base64,")
    assert all(value.startswith(ours) for value in places)
    assert len(text) < 200_000
    assert not OBEYED.search(text)


def test_html_forbids_everything_but_its_own_sheets_and_pictures():
    text = formats.WRITERS["html"](hostile_night())

    assert policy().startswith("default-src 'none'; style-src 'sha256-")
    assert text.count("<style>") == len(sheets()) == 2
    assert "</style" not in "".join(sheets())
    # One var() makes a mail client drop the whole sheet.
    assert "var(" not in sheets()[0]
    assert "@media" not in sheets()[0]


def test_text_keeps_to_eighty_columns_but_for_commands_and_obeys_nothing():
    text = formats.WRITERS["text"](hostile_night())

    assert not OBEYED.search(text)
    assert not re.search(r"(?m)^nightshift: ok", text)
    command = EVIL.split("\x00")[0].strip()[:30]
    long = [line for line in text.splitlines() if len(line) > WIDTH and command not in line]
    assert long == []


def test_the_command_for_the_same_report_is_on_a_line_of_its_own():
    night = hostile_night("shop.example.com")

    lines = formats.WRITERS["text"](night).splitlines()

    assert lines[-1] == f"  {night.window.command}"
    assert lines[-2].endswith("format 1. To have it again:")


def test_markdown_escapes_what_it_would_take_for_markup():
    text = formats.WRITERS["md"](hostile_night())
    # Within code nothing is markup.
    outside = re.sub(r"(`+) .*? \1|`[^`\n]*`", "", text)

    assert not re.search(r"(?<!\\)<", outside)
    assert not re.search(r"(?<!\\)\]\(", outside)
    assert not OBEYED.search(text.replace("\n", ""))
    rows = [line for line in outside.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} <= {5, 6}


def test_json_can_be_read_and_holds_what_was_said():
    told = json.loads(formats.WRITERS["json"](hostile_night()))

    assert told["groups"][0]["label"] == EVIL
    assert not {"picture", "good_picture"} & set(told["groups"][0])
    assert not OBEYED.search(formats.WRITERS["json"](hostile_night()).replace("\n", ""))


def test_a_command_is_not_broken_within_an_option():
    assert code("launcher.py retry --group 3f9a --limit 10") == (
        '<code>launcher.py retry <span class="nb">--group 3f9a</span> '
        '<span class="nb">--limit 10</span></code>'
    )
    # What is longer than a phone is wide has to be broken somewhere, and is never markup.
    assert code("launcher.py x --id <b>" + "9" * 90) == (
        f"<code>launcher.py x --id &lt;b&gt;{'9' * 90}</code>"
    )


def test_marks_say_by_shape_what_they_say_by_colour():
    assert len(set(CHARACTERS.values())) == len(Mark)
    text = formats.WRITERS["text"](hostile_night())
    assert "◆ Failed" in text
    assert "● Done" in text


def test_the_sum_is_written_in_every_format_for_people():
    for kind in ("text", "html", "md"):
        text = formats.WRITERS[kind](hostile_night()).replace("\\", "")
        assert (
            "50,012 in = 49,659 done + 341 failed + 7 discarded + 3 pending + 2 in progress" in text
        )


def test_a_file_is_its_owners_alone_and_whole_or_not_there(tmp_path):
    (tmp_path / "old.html").write_text("old")
    (tmp_path / "old.html").chmod(0o644)

    formats.save("new", tmp_path / "old.html")

    assert (tmp_path / "old.html").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "old.html").stat().st_mode) == 0o600
    with pytest.raises(OSError, match="No such file"):
        formats.save("new", tmp_path / "missing" / "x.html")
    assert [path.name for path in tmp_path.iterdir()] == ["old.html"]


def test_the_report_of_a_run_is_named_by_its_time_and_number(tmp_path):
    paths = formats.save_of_run(hostile_night(), tmp_path / "reports")

    assert [path.name for path in paths] == [
        "night-2026-01-31T1800-run-118.html",
        "night-2026-01-31T1800-run-118.json",
    ]
    assert stat.S_IMODE((tmp_path / "reports").stat().st_mode) == 0o700


@pytest.mark.parametrize("kind", ["text", "md", "html"])
def test_a_list_that_is_cut_says_of_how_many_groups_it_shows_the_first(kind):
    text = formats.WRITERS[kind](hostile_night("odd"))

    # Of 37 groups two are muted and one is listed.
    assert "341 in 37 groups, the 1 largest of them below" in text
    assert "40 in muted groups" in text
    assert re.search(r"87 in 34 other groups or in the archive: .{0,6}launcher.py errors", text)


@pytest.mark.parametrize("kind", ["text", "md", "html"])
def test_a_list_that_is_whole_says_no_more_than_the_number(kind):
    totals = GroupTotals(1, 214, 0, 0, 0)
    text = formats.WRITERS[kind](hostile_night("odd", group_totals=totals, other_failures=0))

    assert "341 in 1 group" in text
    assert "below" not in text.partition("341 in 1 group")[2][:40]
    assert "other groups" not in text


def test_json_tells_of_all_groups_too():
    told = json.loads(formats.WRITERS["json"](hostile_night("odd")))

    assert told["groups_in_all"] == {
        "groups": 37, "jobs": 341, "new": 3, "muted": 2, "jobs_muted": 40,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["text", "md", "html"])
def test_queues_batches_and_follow_ups_are_told(kind):
    text = formats.WRITERS[kind](hostile_night("odd"))

    told = " ".join(re.sub(r"<[^>]+>|[|]", " ", text.replace("\\", "")).split())
    assert "slow 9+ 41+ 0+" in told
    assert "+: counted for a few seconds only; there are more." in told
    assert "2 h 00 min 498 2, 1 cancelled" in told
    assert "The latest 1 of 22 finished batches. 3 more are open." in told
    assert "jobs have added 1,204 jobs" in told


@pytest.mark.parametrize("kind", ["text", "md", "html"])
def test_where_there_is_one_queue_and_no_batch_nothing_is_said_of_them(kind):
    text = formats.WRITERS[kind](hostile_night("odd", queues=(), batches=Batches(), follow_ups=0))

    assert not re.search("(?i)queues|batches|jobs have added", text)


def test_json_tells_of_queues_and_batches():
    told = json.loads(formats.WRITERS["json"](hostile_night("odd")))

    assert told["queues"][1] == {
        "name": "slow", "done": 9, "failed": 41, "left": 0, "is_whole": False,
    }  # fmt: skip
    assert told["batches"]["of_all"] == 22
    assert told["batches"]["ended"][0]["finished_at"].endswith("Z")
    assert told["follow_ups"] == 1204


@pytest.mark.parametrize("name", ["text", "html", "md"])
def test_a_group_names_its_task_once(name):
    night = hostile_night("night-1")
    group = replace(night.groups[0], task="price", label="price: TimeoutError", last_good="`.a<b>`")

    told = formats.WRITERS[name](replace(night, groups=(group,)))

    assert "price: price" not in told
    assert "TimeoutError" in told
    if name == "html":
        assert "<code>.a&lt;b&gt;</code>" in told
    noted = replace(group, label="TimeoutError")
    assert noted.title == group.title == "price: TimeoutError"
