"""Named SQL: every query in `sql/queries/` is found by its name, and has one.

A query is a `-- name:` line, a purpose line, and its statements. One that holds several statements
is a script: one transaction in one round trip, with its own COMMIT. `sql/queries/queue/claims.sql`
belongs to `worker/queue/claims.py`, and so for every other file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

from worker.installation import own_files

QUERIES_DIR = own_files() / "sql" / "queries"

_NAME = re.compile(r"^-- name: *(\w+) *$", re.MULTILINE)
_INCLUDE = re.compile(r"/\* include (\w+) \*/")


def query(name: str, conditions: tuple[str, ...] = ()) -> str:
    """Return the SQL of that name; a KeyError is a bug that the test of all names catches.

    `conditions` names further conditions, which are put where the query says `/* conditions */`.
    """
    text = load()[name]
    if not conditions and "/* conditions */" not in text:
        return text
    return text.replace("/* conditions */", " ".join(load()[item] for item in conditions))


def fill(text: str, params: Mapping[str, Any], escape: Callable[[Any], str]) -> str:
    """Put values into a statement; `escape` writes all but numbers, which need no driver."""
    return text % {
        name: value
        if (kind := type(value)) is int or (kind is float and isfinite(value))
        else "NULL"
        if value is None
        else escape(value)
        for name, value in params.items()
    }


@cache
def load(folder: Path = QUERIES_DIR) -> dict[str, str]:
    """Read every query file once; two queries of one name are refused.

    `/* include columns */` stands for the text of the query `columns`.
    """
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*.sql")):
        parts = _NAME.split(path.read_text(encoding="utf-8"))
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            if name in found:
                raise ValueError(f"{path.name}: query {name} is defined twice")
            found[name] = _stripped(body)
    return {name: _INCLUDE.sub(lambda part: found[part[1]], text) for name, text in found.items()}


def _stripped(body: str) -> str:
    # Sent without its indentation: the hottest statement is a fifth shorter so.
    lines = [line.strip() for line in body.splitlines()]
    return "\n".join(line for line in lines if not line.startswith("--")).strip().rstrip(";")
