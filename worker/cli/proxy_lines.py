"""Read proxies from text: one URL per line, `URL,name,region`, or CSV with a header.

A bad line is reported by its number and a reason. Its content is never repeated.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace

from worker.cli.import_file import BadLine
from worker.errors import UsageError
from worker.proxies.proxy import DIRECT, Proxy

COLUMNS = ("url", "name", "region")
MAX_NAME = 64

_NAME = re.compile(r"[\w.:\[\]-]+")


def read_lines(text: str, taken: set[str]) -> Iterator[Proxy | BadLine]:
    """Read proxies; one without a name is named host:port, plus a number if that is taken."""
    columns: tuple[str, ...] = COLUMNS
    taken = set(taken)
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    is_first = True
    while True:
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            yield BadLine(reader.line_num, f"it is not CSV ({error})")
            return
        if not any(cells) or cells[0].startswith("#"):
            continue
        names = tuple(cell.lower() for cell in cells)
        if is_first and "url" in names and set(names) <= set(COLUMNS):
            columns = names
        else:
            try:
                yield _proxy(dict(zip(columns, cells, strict=False)), len(cells), columns, taken)
            except UsageError as error:
                yield BadLine(reader.line_num, str(error))
        is_first = False


def check_name(name: str) -> None:
    """Check a proxy's name; raises UsageError, which does not repeat it."""
    if "@" in name or "://" in name:
        raise UsageError(
            "the name looks like a URL; give a name first, then the URL "
            "(leave out a URL with a login, to be asked for it)"
        )
    if name == DIRECT:
        raise UsageError(f"no proxy can be named {DIRECT}: that says that a profile uses none")
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        raise UsageError(
            f"a proxy's name may hold only letters, digits, - . _ : and at most {MAX_NAME} of them"
        )


def _proxy(cells: dict[str, str], count: int, columns: tuple[str, ...], taken: set[str]) -> Proxy:
    if count > len(columns):
        raise UsageError(
            f"it has {count} columns, not {', '.join(columns)}; "
            "write a comma inside a password as %2C"
        )
    proxy = Proxy.parse(cells.get("url", ""))
    name = cells.get("name") or _free_name(proxy, taken)
    check_name(name)
    if name in taken:
        raise UsageError(f"the name {name} is taken")
    region = cells.get("region") or None
    if region and not _NAME.fullmatch(region):
        raise UsageError("the region may hold only letters, digits, - . _ :")
    taken.add(name)
    return replace(proxy, name=name, region=region)


def _free_name(proxy: Proxy, taken: set[str]) -> str:
    base = f"{proxy.host}:{proxy.port}"[-MAX_NAME + 6 :]
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name
