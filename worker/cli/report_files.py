"""`run --report-to`: the report of a run that did something, written at its end.

It never changes what the run came to: what cannot be written is told, and that is all.
"""

from __future__ import annotations

from worker.cli.output import tell, tell_error
from worker.errors import NightshiftError
from worker.installation import command_line
from worker.settings import RunSettings
from worker.supervisor.view import Summary
from worker.system.fork import call_in_child


def prepare(settings: RunSettings) -> None:
    """Import what the report needs, if one is wanted: no run waits for that without one.

    At the run's start all the same: whatever is installed meanwhile, it fits the rest of the code.
    """
    if settings.report_to is not None:
        from worker.cli import run_report  # noqa: F401


def write(settings: RunSettings, summary: Summary) -> None:
    """Write the report in a child, if one is wanted and there is anything to tell."""
    if settings.report_to is None or not _did_something(summary):
        return
    from worker.cli import run_report

    try:
        if not summary.is_recorded:
            raise NightshiftError("the database does not answer")
        paths = call_in_child(run_report.save, settings, summary.run_id)
    except (NightshiftError, RuntimeError) as error:
        # A child's own bug arrives as a RuntimeError: it must not cost the run its exit code.
        tell_error(
            f"the report was not written: {error}; write it later: "
            f"{command_line('report', '--run', summary.run_id)} -o night.html"
        )
        return
    if not settings.quiet:
        tell(f"report: {paths[0]}", err=True)


def _did_something(summary: Summary) -> bool:
    return bool(summary.done or summary.failed or summary.retried or summary.crashes)
