"""`launcher.py prune`: remove old evidence, by age and by size."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from worker.cli.options import AGE, json_flag, run_settings
from worker.cli.output import tell, tell_json
from worker.cli.wording import counted, duration, size
from worker.errors import UsageError
from worker.evidence import prune as pruning

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class Size(click.ParamType[int]):
    """`500MB`, `5GB`, `2GiB` or a bare number of bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", str(value).lower())
        if match is None or (match[3] and not match[2]):
            self.fail(f"{value!r} is not a size; write 500MB or 5GB", param, ctx)
        unit = _BINARY_UNITS[match[2]] if match[3] else _UNITS[match[2]]
        return int(float(match[1]) * unit)


@click.command("prune")
@click.option("--older-than", type=AGE, help="Remove what is at least this old: 30d.")
@click.option("--max-size", type=Size(), help="Remove the oldest until this much is left: 5GB.")
@run_settings("errors_dir")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option(
    "--quiet", is_flag=True, is_eager=True, help="Print nothing unless something went wrong."
)
@json_flag
def prune(
    older_than: float | None,
    max_size: int | None,
    errors_dir: Path,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Remove old evidence and good pages. Jobs and their history stay.

    Evidence of the last minutes stays too, because it may still be in the making.
    """
    if older_than is None and max_size is None:
        raise UsageError("say what to remove: --older-than 30d, --max-size 5GB, or both")
    try:
        chosen = pruning.plan(errors_dir, older_than_seconds=older_than, max_bytes=max_size)
        gone = chosen.doomed if dry_run else list(pruning.carry_out(chosen))
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be pruned: {error.strerror}") from error
    if as_json:
        tell_json(_report(chosen, gone, is_dry_run=dry_run))
    elif not quiet:
        would = "would remove" if dry_run else "removed"
        tell(f"{would} {_summary(chosen, gone, _rules(older_than, max_size))}")
    if chosen.is_over_budget:
        fresh = f"{pruning.FRESH_SECONDS / 60:.0f} minutes"
        tell(
            f"nightshift: {errors_dir} is still over --max-size: "
            f"what was written in the last {fresh} is not removed",
            err=True,
        )


def _report(
    chosen: pruning.Pruning, gone: list[pruning.Folder], *, is_dry_run: bool
) -> dict[str, object]:
    good = pruning.good_pages_among(gone)
    return {
        "folders": len(gone) - good,
        "freed_bytes": sum(folder.size for folder in gone),
        "dry_run": is_dry_run,
        "kept_folders": chosen.kept,
        "kept_bytes": chosen.kept_bytes,
        "good_pages": good,
        "kept_good_pages": chosen.kept_good_pages,
    }


def _summary(chosen: pruning.Pruning, gone: list[pruning.Folder], rules: str) -> str:
    good, freed = pruning.good_pages_among(gone), sum(folder.size for folder in gone)
    return (
        f"the evidence of {_counted(len(gone) - good, good)}, {size(freed)} ({rules}); "
        f"kept that of {_counted(chosen.kept, chosen.kept_good_pages)}, {size(chosen.kept_bytes)}"
    )


def _counted(attempts: int, good_pages: int) -> str:
    text = counted(attempts, "attempt")
    return f"{text} and {counted(good_pages, 'good page')}" if good_pages else text


def _rules(older_than: float | None, max_size: int | None) -> str:
    """Say how the flags were understood: 30 is half a minute, not a month."""
    rules = [] if older_than is None else [f"older than {duration(older_than)}"]
    rules += [] if max_size is None else [f"over {size(max_size)} in all"]
    return " or ".join(rules)


COMMANDS = [prune]
