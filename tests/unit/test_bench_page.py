"""docs/performance.md: made of the results alone, and true to those that are kept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bench import harness, performance, plots
from bench.groups import GROUPS
from bench.harness import Found, Plot, at_least

ROOT = Path(__file__).parents[2]


@pytest.fixture
def document():
    row = harness.compared(
        "claims", "the limit", [80.0], [100.0], at_least(0.7), unit="jobs/s", note="a remark"
    )
    plot = Plot("Rate <1>", "workers", "jobs/s", {"ours": [(1.0, 5.0), (200.0, 9.0)]})
    found = Found([row], {"rate": plot}, {"server": "11.8"})
    return {
        "when": "2026-01-31T18:00+00:00",
        "machine": {"processor": "some, 2 cores"},
        "groups": {"claims": {**json.loads(json.dumps(harness.as_json(found))), "seconds": 61.2}},
    }


def test_the_page_has_the_rows_the_machine_the_words_and_every_command(document):
    page = performance.page_of(document, "Because of the fsync.")

    assert "| claims | the limit | 80 jobs/s | 100 jobs/s | 0.80 " in re.sub(" +", " ", page)
    for part in ("a remark", "Because of the fsync.", "some, 2 cores", "11.8"):
        assert part in page
    assert "](pictures/performance-rate.svg)" in page
    assert all(f"`{group.command}`" in page for group in GROUPS)
    assert "| Claim and finish | `python -m bench.claims` | 61 s |" in page


def test_the_page_that_is_kept_is_what_its_results_make():
    results = ROOT / "bench" / "results"
    kept = results / "latest.json"
    assert kept.exists(), "there are no results: make bench"
    document = json.loads(kept.read_text(encoding="utf-8"))
    assert document["groups"].keys() <= {group.name for group in GROUPS}
    notes = results / "notes.md"
    words = notes.read_text(encoding="utf-8") if notes.exists() else ""

    assert (ROOT / "docs" / "performance.md").read_text(encoding="utf-8") == (
        performance.page_of(document, words)
    ), "write it anew: python -m bench.performance"
    pictures = {path.name for path in performance.PICTURES.glob("performance-*.svg")}
    wanted = performance.plots_of(document)
    assert pictures == {f"performance-{name}.svg" for name in wanted}
    for name, plot in wanted.items():
        picture = performance.PICTURES / f"performance-{name}.svg"
        assert picture.read_text(encoding="utf-8") == plots.draw(plot)


@pytest.mark.parametrize(
    "plot",
    [
        Plot("Lines <&>", "jobs", "ms", {"p50": [(1e3, 1.0), (1e6, 2.0)], "p99": [(1e3, 5.0)]}),
        Plot("Linear", "pages", "MB", {"all": [(float(n), 100.0 + n) for n in range(20)]}),
        Plot("From none", "backlog", "jobs/s", {"ours": [(0.0, 9.0), (1e5, 8.0)]}),
        Plot("Bars", "", "ms", {"worker": [("page", 5.0)], "browser": [("page", 9.0)]}),
    ],
    ids=lambda plot: plot.title,
)
def test_a_plot_is_whole_xml_within_its_frame(plot):
    drawn = ET.fromstring(plots.draw(plot))

    for shape in drawn.iter("{http://www.w3.org/2000/svg}circle"):
        assert 0 <= float(shape.get("cx")) <= plots.WIDTH
        assert 0 <= float(shape.get("cy")) <= plots.LINE_HEIGHT
    for bar in drawn.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(bar.get("x")) + float(bar.get("width")) <= plots.WIDTH


def test_what_peers_are_installed_from_is_pinned_with_hashes():
    lines = (ROOT / "bench" / "peers" / "requirements.txt").read_text(encoding="utf-8")
    asked = (ROOT / "bench/peers/requirements.in").read_text(encoding="utf-8")
    wanted = re.findall(r"^[a-z][\w.-]*", asked, re.M)
    pinned = re.findall(r"^([\w.-]+)(?:\[[^\]]*\])?==\S+ \\\n    --hash=sha256:", lines, re.M)

    assert len(wanted) > 5
    # Celery and Dramatiq with the client that they say they work with.
    assert {"celery[redis]", "dramatiq[redis]"} <= set(asked.splitlines())
    assert set(wanted) <= set(pinned)
