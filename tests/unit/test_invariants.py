"""Each of docs/architecture.md's invariants is cited, by its number, by a test that shows it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
CITATION = re.compile(r"\binvariants? (\d+(?:(?:,| to| and|, and) \d+)*)")


def section() -> str:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return text.partition("\n## What always holds\n")[2].partition("\n## ")[0]


def stated() -> set[int]:
    return {int(number) for number in re.findall(r"^(\d+)\. ", section(), re.MULTILINE)}


def not_yet_built() -> set[int]:
    promised = re.search(r"([\d, and]+) (?:is|are)\s+promised", section())
    return {int(number) for number in re.findall(r"\d+", promised[1])} if promised else set()


def numbers_in(text: str) -> set[int]:
    """Read "1 to 4, 7 and 9" as the numbers it means."""
    found: set[int] = set()
    for citation in CITATION.findall(" ".join(text.split())):
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", citation):
            found |= set(range(int(first), int(last or first) + 1))
    return found


def cited() -> dict[int, list[str]]:
    found = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        for number in numbers_in(text):
            found[number].append(str(path.relative_to(ROOT)))
    return found


def test_every_invariant_that_is_built_is_cited_by_a_test():
    assert stated() >= set(range(1, 11))
    assert stated() - not_yet_built() - set(cited()) == set()


def test_no_test_cites_an_invariant_that_is_not_stated():
    strange = {number: files for number, files in cited().items() if number not in stated()}

    assert strange == {}


def test_citations_are_read_as_people_write_them():
    assert numbers_in("Holds invariants 1 to 4, 7 and 9 of the design") == {1, 2, 3, 4, 7, 9}
    assert numbers_in("invariant 5, and the cap of invariant 3") == {3, 5}
    assert numbers_in("an invariant, 7 times") == set()
