"""The command line: which commands there are, and which error ends in which exit code."""

from __future__ import annotations

import errno
import importlib
import io
import logging
import os
import sys
import traceback
from pathlib import Path
from types import TracebackType

import click

from worker import __version__, log
from worker.cli.groups import HELP_EPILOG, DefaultGroup
from worker.cli.output import tell_error, tell_text
from worker.errors import NightshiftError
from worker.evidence.redaction import redact_text
from worker.exit_codes import ExitCode
from worker.settings import PROJECT_ROOT, load_dotenv
from worker.system import standard_streams
from worker.system.private_files import write_privately

# What a stream says that takes nothing more.
FULL_OR_CLOSED = {errno.ENOSPC, errno.EDQUOT, errno.EBADF, errno.EIO}
# Where each command is: a module is imported when one of its commands is used, because all of
# them together take longer to import than most commands do to run.
MODULES = {
    "run": "run",
    "enqueue": "enqueue",
    "export": "export",
    "schedule": "schedules",
    "tick": "schedules",
    "status": "status",
    "watch": "watch",
    "runs": "runs",
    "jobs": "jobs",
    "show": "inspect",
    "why": "inspect",
    "todo": "todo",
    "report": "report",
    "errors": "errors",
    "retry": "requeue",
    "discard": "requeue",
    "undiscard": "cancel",
    "cancel": "cancel",
    "mute": "errors",
    "unmute": "errors",
    "init": "rehearse",
    "try": "rehearse",
    "reproduce": "rehearse",
    "pause": "pause",
    "resume": "pause",
    "limits": "limits",
    "breakers": "limits",
    "proxies": "proxies",
    "profiles": "profiles",
    "accounts": "accounts",
    "sweep": "sweep",
    "deliver": "deliver",
    "archive": "archive",
    "prune": "prune",
    "rollups": "rollups",
    "metrics": "metrics",
    "notify": "notify",
    "dashboard": "dashboard",
    "migrate": "sweep",
    "db": "database",
    "doctor": "doctor",
    "demo": "demo",
    "drill": "drill",
}


class Commands(DefaultGroup):
    """All commands; bare flags belong to `run`: `launcher.py --workers 6` is a run."""

    default = "run"

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in MODULES:
            return None
        module = importlib.import_module(f"worker.cli.{MODULES[cmd_name]}")
        commands: list[click.Command] = module.COMMANDS
        return next(command for command in commands if command.name == cmd_name)


@click.group(
    cls=Commands,
    epilog=HELP_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="nightshift")
def cli() -> None:
    """Nightshift: a pool of browser workers that drains a MySQL queue.

    Without a command this is `run`: python launcher.py --workers 6
    """


def main(argv: list[str] | None = None) -> None:
    """Run a command; an error that a person can correct is one line on stderr."""
    write_privately()
    standard_streams.replace_closed()
    sys.excepthook = _tell_unexpected
    log.configure("nightshift", logging.WARNING)
    try:
        load_dotenv(Path(os.environ.get("NIGHTSHIFT_ENV_FILE") or PROJECT_ROOT / ".env"))
        # Not cli.main(): that ends with 1 when whoever read our output has seen enough.
        arguments = sys.argv[1:] if argv is None else argv
        with cli.make_context("launcher.py", list(arguments)) as context:
            code = cli.invoke(context)
        sys.exit(code if isinstance(code, int) else ExitCode.OK)
    except click.exceptions.Exit as ending:
        sys.exit(ending.exit_code)
    except click.ClickException as error:
        _tell_usage(error)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(ExitCode.INTERRUPTED)
    except NightshiftError as error:
        tell_error(redact_text(str(error)))
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        standard_streams.silence(standard_streams.STDOUT)
        sys.exit(ExitCode.OK)
    except OSError as error:
        if error.filename is not None or error.errno not in FULL_OR_CLOSED:
            raise
        # Help and versions are printed by click itself.
        standard_streams.silence(standard_streams.STDOUT)
        tell_error(f"stdout cannot be written: {error.strerror}")
        sys.exit(ExitCode.UNEXPECTED)


def _tell_usage(error: click.ClickException) -> None:
    told = io.StringIO()
    error.show(file=told)
    tell_text(told.getvalue().rstrip("\n"), err=True)


def _tell_unexpected(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Show a bug of ours whole, without the secrets and the controls that its texts may hold."""
    text = "".join(traceback.format_exception(kind, error, trace))
    tell_text(redact_text(text).rstrip("\n"), err=True)
