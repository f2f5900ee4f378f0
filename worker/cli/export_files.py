"""The files that `export` writes: CSV, JSONL, and a workbook for spreadsheets."""

from __future__ import annotations

import csv
import importlib.util
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from worker.cli import output
from worker.errors import SettingsError, UsageError
from worker.evidence.terminal_text import one_line, visible_json
from worker.history import export_columns
from worker.json_text import whole_characters

# What a sheet and a cell of a workbook can hold.
SHEET_ROWS = 1_048_576
CELL_CHARACTERS = 32_767
# A spreadsheet's numbers have 15 digits; a longer one is kept whole as text.
EXACT_NUMBER = 10**15
# How much is held back until it is written.
HELD_CHARACTERS = 1 << 16

Job = dict[str, Any]


class Target:
    """Where the export goes, in writes of a size that costs little.

    On a terminal, and for those who follow it, what is written is there at once.
    """

    def __init__(self, file: IO[str] | None = None, *, is_followed: bool = False) -> None:
        self._file = file
        self.is_terminal = output.is_terminal() if file is None else file.isatty()
        self._held_at_most = 0 if is_followed or self.is_terminal else HELD_CHARACTERS
        self._held: list[str] = []
        self._characters = 0

    def write(self, text: str) -> None:
        self._held.append(text)
        self._characters += len(text)
        if self._characters > self._held_at_most:
            self.flush()

    def flush(self) -> None:
        """Write what is held; it is tried once, so that a full disk is told of once."""
        text, self._held, self._characters = "".join(self._held), [], 0
        if self._file is None:
            output.write_exactly(text)
        else:
            self._file.write(text)
            self._file.flush()


@contextmanager
def text_target(path: Path | None, *, is_followed: bool = False) -> Iterator[Target]:
    """Open the file, or stdout where none is named; all that was written is there at the end."""
    if path is None:
        with _emptied(Target(is_followed=is_followed)) as target:
            yield target
        return
    with (
        _refused_politely(path),
        path.open("w", encoding="utf-8", newline="") as file,
        _emptied(Target(file, is_followed=is_followed)) as target,
    ):
        yield target


@contextmanager
def _emptied(target: Target) -> Iterator[Target]:
    try:
        yield target
    finally:
        target.flush()


def write_jsonl(jobs: Iterable[Job], target: Target, columns: list[str] | None) -> None:
    """Write whole jobs, or what they have in the columns that were named."""
    chosen = {name: export_columns.reader(name) for name in columns or ()}
    # What was parsed holds no circles.
    encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
    is_shown = target.is_terminal
    for job in jobs:
        text = encode(
            job if columns is None else {name: read(job) for name, read in chosen.items()}
        )
        target.write((visible_json(text) if is_shown else text) + "\n")


def write_csv(jobs: Iterable[Job], target: Target, columns: list[str], *, is_raw: bool) -> None:
    """Write a header and a line for each job; what a spreadsheet would run is defused."""
    is_shown = target.is_terminal
    writer = csv.writer(target, lineterminator="\n" if is_shown else "\r\n")

    def write(values: Iterable[Any]) -> None:
        cells = [export_columns.cell(value, is_raw=is_raw) for value in values]
        writer.writerow([one_line(str(cell)) for cell in cells] if is_shown else cells)

    # Strangers have named the columns too: they are keys of results.
    write(columns)
    readers = [export_columns.reader(column) for column in columns]
    for job in jobs:
        write([read(job) for read in readers])


def check_workbook(path: Path | None, *, is_followed: bool) -> None:
    """Raise what keeps a workbook from being written, before anything is read."""
    if path is None:
        raise UsageError("a workbook goes to a file: give -o results.xlsx")
    if is_followed:
        raise UsageError("--follow cannot go on in a workbook; follow as CSV or JSONL")
    if importlib.util.find_spec("xlsxwriter") is None:
        raise SettingsError(
            "writing .xlsx needs XlsxWriter: pip install 'nightshift[xlsx]' "
            "(in a checkout: make setup); CSV and JSONL need nothing"
        )


def write_workbook(jobs: Iterable[Job], path: Path, columns: list[str]) -> None:
    """Write a workbook row by row, in flat memory; what does not fit one sheet goes to the next.

    Texts are cells of text: no spreadsheet runs them as formulas or opens them as links.
    """
    import xlsxwriter  # type: ignore[import-untyped]

    with _refused_politely(path), path.open("wb") as file:
        book = xlsxwriter.Workbook(file, {"constant_memory": True, "in_memory": False})
        bold = book.add_format({"bold": True})
        readers = [export_columns.reader(column) for column in columns]
        sheet, row = None, SHEET_ROWS
        for job in jobs:
            if row == SHEET_ROWS:
                sheet, row = _new_sheet(book, columns, bold), 1
            for at, read in enumerate(readers):
                _write_cell(sheet, row, at, read(job))
            row += 1
        if sheet is None:
            _new_sheet(book, columns, bold)
        book.close()


def _new_sheet(book: Any, columns: list[str], bold: Any) -> Any:
    number = len(book.worksheets()) + 1
    sheet = book.add_worksheet("results" if number == 1 else f"results {number}")
    sheet.freeze_panes(1, 0)
    for at, column in enumerate(columns):
        sheet.write_string(0, at, _text(column), bold)
    return sheet


def _write_cell(sheet: Any, row: int, at: int, value: Any) -> None:
    if isinstance(value, bool):
        sheet.write_boolean(row, at, value)
    elif isinstance(value, int | float) and abs(value) < EXACT_NUMBER:
        sheet.write_number(row, at, value)
    elif value not in (None, ""):
        sheet.write_string(row, at, _text(export_columns.cell(value, is_raw=True)))


def _text(value: Any) -> str:
    text: str = whole_characters(str(value))
    # Excel counts UTF-16 units, of which a character has at most two.
    if len(text) > CELL_CHARACTERS // 2:
        units = text.encode("utf-16-le")
        if len(units) > CELL_CHARACTERS * 2:
            cut: str = units[: (CELL_CHARACTERS - 1) * 2].decode("utf-16-le", "ignore")
            return cut + "…"
    return text


@contextmanager
def _refused_politely(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
