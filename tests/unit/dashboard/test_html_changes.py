"""Two pages are compared line by line, in bounded time whatever they hold."""

from __future__ import annotations

import time

from worker.dashboard import html_changes
from worker.dashboard.html_changes import Line, compare


def test_an_element_begins_a_line_and_the_changed_ones_are_told_with_some_around():
    changes = compare(
        "<main><h1>Lamp</h1><p>In stock</p><b class=price>189</b></main>",
        "<main><h1>Lamp</h1><p>In stock</p><i>Sale</i><b class=product-price>149</b></main>",
    )

    assert (changes.gone, changes.new, changes.is_whole) == (1, 2, True)
    signs = [(line.sign, line.text) for line in changes.lines]
    assert signs == [
        ("…", ""), (" ", "<h1>Lamp</h1>"), (" ", "<p>In stock</p>"),
        ("-", "<b class=price>189</b></main>"), ("+", "<i>Sale</i>"),
        ("+", "<b class=product-price>149</b></main>"),
    ]  # fmt: skip


def test_equal_pages_have_no_changes():
    assert compare("<p>a</p>", "<p>a</p>\n").lines == ()


def test_pages_without_end_are_compared_in_part_and_in_time():
    began = time.monotonic()

    # Lines that are all there many times are what a comparison takes longest for.
    then = "".join(f"<p>{number % 70}</p>" for number in range(20_000))
    now = "".join(f"<p>{number * 7 % 70}</p>" for number in range(20_000))
    changes = compare(then, now)

    assert time.monotonic() - began < 10
    assert not changes.is_whole
    assert len(changes.lines) <= html_changes.MOST_SHOWN


def test_a_line_without_end_is_cut():
    (_, line) = compare("", "<p>" + "x" * 10_000).lines

    assert line == Line("+", ("<p>" + "x" * 10_000)[: html_changes.LONGEST_LINE])
