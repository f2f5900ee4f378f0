"""Every query has a name, a purpose and a user; every name that is used exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from worker.database.statements import QUERIES_DIR, load, query

REPO = Path(__file__).parents[3]
SOURCES = [*(REPO / "worker").rglob("*.py"), *(REPO / "bench").rglob("*.py")]
ASKING = {
    "execute",
    "execute_prepared",
    "fetch_all",
    "fetch_one",
    "run_script",
    "insert",
    "insert_many",
    "query",
}


def nodes():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            yield path, node


def asked_names():
    """Yield (file, name) of every call that asks for a query by a name written out."""
    for path, node in nodes():
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called, first = node.func, node.args[0]
        name = getattr(called, "attr", None) or getattr(called, "id", None)
        # Cursors and connections take SQL, not names.
        asked = ast.unparse(called.value) if isinstance(called, ast.Attribute) else ""
        takes_sql = "cursor" in asked or "connection" in asked
        if name not in ASKING or not isinstance(first, ast.Constant) or takes_sql:
            continue
        if isinstance(first.value, str) and re.fullmatch(r"\w+", first.value):
            yield path.name, first.value


def test_every_query_is_used_by_the_module_its_file_is_named_after():
    for path in QUERIES_DIR.rglob("*.sql"):
        module = (REPO / "worker" / path.relative_to(QUERIES_DIR)).with_suffix(".py")
        tree = ast.parse(module.read_text(encoding="utf-8"))
        texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        sql = path.read_text(encoding="utf-8")
        included = set(re.findall(r"/\* include (\w+) \*/", sql))
        names = set(re.findall(r"^-- name: *(\w+) *$", sql, re.MULTILINE))
        assert sorted(names - texts - included) == [], f"not used by {module.name}"


def test_every_used_name_exists():
    asked = set(asked_names())
    assert len(asked) > 20
    assert sorted((file, name) for file, name in asked if name not in load()) == []


def test_every_query_has_a_purpose_in_a_sentence():
    for path in QUERIES_DIR.rglob("*.sql"):
        for name, body in re.findall(
            r"^-- name: (\w+)\n(.*?)(?=^-- name:|\Z)", path.read_text(), re.M | re.S
        ):
            purpose = " ".join(re.findall(r"^-- (.*)$", body.split("\n\n")[0], re.M))
            assert re.fullmatch(r"[A-Z].*\.", purpose), f"{path.name}: {name} says no purpose"


def test_every_file_begins_with_a_name_so_that_no_query_is_without_one():
    for path in QUERIES_DIR.rglob("*.sql"):
        assert path.read_text().startswith("-- name: "), path.name


def without_comments(path):
    return re.sub(r"^ *--.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("what", "pattern", "allowed"),
    [
        # TiDB takes no lock there, and poolers send it to replicas.
        ("SKIP LOCKED", r"\bSKIP\s+LOCKED\b", set()),
        # The drill has its own ledger in a scratch database.
        ("a trigger", r"\bTRIGGER\b", {"drill/finish_ledger.sql"}),
        # A session that a pooler hands on has lost it, or has somebody else's.
        ("a user's variable", r"(?<![\w@'])@\w+", set()),
        ("a temporary table", r"\bTEMPORARY\b", set()),
        ("a table lock", r"\bLOCK\s+TABLES\b", set()),
        # Where it holds on one member alone, locks.py takes a row instead.
        ("a lock by name", r"\b(GET|RELEASE|RELEASE_ALL)_LOCKS?\b", {"database/locks.sql"}),
    ],
)  # fmt: skip
def test_no_query_relies_on_what_a_cluster_or_a_pooler_does_not_keep(what, pattern, allowed):
    found = {
        str(path.relative_to(folder))
        for folder in (QUERIES_DIR, REPO / "sql" / "migrations")
        for path in folder.rglob("*.sql")
        if re.search(pattern, without_comments(path), re.IGNORECASE)
    }

    assert found == allowed, what


def test_a_query_comes_without_its_comments_and_last_semicolon():
    assert query("beat_run").startswith("UPDATE runs")
    assert query("beat_run").endswith("WHERE id = %(run_id)s")


def test_a_query_can_include_another(tmp_path):
    (tmp_path / "a.sql").write_text(
        "-- name: columns\n-- Some.\nid, task\n\n-- name: look\n-- Look.\n"
        "SELECT /* include columns */ FROM t;\n"
    )
    assert load(tmp_path)["look"] == "SELECT id, task FROM t"


def test_two_queries_of_one_name_are_refused(tmp_path):
    (tmp_path / "a.sql").write_text("-- name: look\n-- Look.\nSELECT 1;\n")
    (tmp_path / "b.sql").write_text("-- name: look\n-- Look again.\nSELECT 2;\n")
    with pytest.raises(ValueError, match=r"b\.sql: query look is defined twice"):
        load(tmp_path)
