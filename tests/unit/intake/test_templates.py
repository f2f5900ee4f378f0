"""Templates are filled from columns and dates; what would give many lines one key is refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worker.errors import UsageError
from worker.intake.templates import Template

# A Sunday: the ISO week is not yet the next one.
NOW = datetime(2026, 11, 1, 23, 59, tzinfo=UTC)


@pytest.mark.parametrize("text", ["{", "}", "{}", "x{}y", "{sku:>9}", "{sku!r}", "{today!r}"])
def test_a_template_that_is_none_is_refused(text):
    with pytest.raises(UsageError, match="--dedupe"):
        Template(text)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{sku}-{today}", "7-2026-11-01"),
        ("{week}", "2026-W44"),
        ("{month} {year} {hour}", "2026-11 2026 2026-11-01T23"),
        ("{today:%d.%m.%Y}", "01.11.2026"),
        ("{{today}}", "{today}"),
    ],
)
def test_dates_stand_beside_columns(text, filled):
    assert Template(text, now=NOW).fill({"sku": "7"}) == filled


def test_a_column_comes_before_a_date_of_its_name():
    assert Template("{month}", now=NOW).fill({"month": "March"}) == "March"


@pytest.mark.parametrize("value", ["", "  ", None])
def test_an_empty_cell_is_refused_instead_of_shared(value):
    with pytest.raises(ValueError, match='its dedupe key is incomplete: "sku" is empty'):
        Template("shop-{sku}").fill({"sku": value})


def test_zero_is_a_value():
    assert Template("{n}").fill({"n": 0}) == "0"
