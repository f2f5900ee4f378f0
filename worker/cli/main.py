"""The command line: which commands there are, and which error ends in which exit code."""

from __future__ import annotations

import errno
import importlib
import logging
import os
import re
import sys
import traceback
from pathlib import Path
from types import TracebackType

import click

from worker import __version__, log, project
from worker.cli import blame, variables
from worker.cli.groups import HELP_EPILOG, DefaultGroup, with_epilog
from worker.cli.output import tell_error, tell_text
from worker.errors import NightshiftError, UsageError
from worker.evidence.redaction import redact_text
from worker.exit_codes import ExitCode
from worker.installation import INSTALLED, command_name, use_command, use_project
from worker.project_file import load_settings
from worker.system import garbage, standard_streams
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
    "rehearse": "rehearse",
    "discard": "requeue",
    "undiscard": "cancel",
    "cancel": "cancel",
    "mute": "errors",
    "unmute": "errors",
    "init": "init",
    "try": "trials",
    "reproduce": "trials",
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
    "evidence": "evidence",
    "dashboard": "dashboard",
    "migrate": "sweep",
    "db": "database",
    "doctor": "doctor",
    "demo": "demo",
    "drill": "drill",
}

# They know first whether they may print anything.
WARNING_THEMSELVES = ("run", "demo")


class Commands(DefaultGroup):
    """All commands; bare flags belong to `run`: `launcher.py --workers 6` is a run."""

    default = "run"

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in MODULES:
            return None
        with garbage.unsearched():
            module = importlib.import_module(f"{__package__}.{MODULES[cmd_name]}")
        commands: list[click.Command] = module.COMMANDS
        return with_epilog(next(command for command in commands if command.name == cmd_name))


@click.group(
    cls=Commands,
    epilog=HELP_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="nightshift")
def cli() -> None:
    """Nightshift: a pool of browser workers that drains a MySQL queue.

    Without a command this is `run`, with all its flags: --workers 6
    """


def installed() -> None:
    """Be the command `nightshift`: its project is the folder it is run in, or `--project`."""
    use_command(INSTALLED)
    if project.VARIABLE not in os.environ:
        os.environ[project.VARIABLE] = str(Path.cwd())
        _warn_of_another_project(sys.argv[1:])
    main()


def _warn_of_another_project(arguments: list[str]) -> None:
    """Say that a project's subfolder is not the project: it would get a database of its own."""
    asks_for_help = not {"-h", "--help", "--version"}.isdisjoint(arguments)
    is_named = any(each.partition("=")[0] == "--project" for each in arguments)
    meant = project.above(Path.cwd())
    if meant is not None and not (is_named or asks_for_help or arguments[:1] == ["init"]):
        tell_error(
            f"warning: there is no {project.FILE} here, but in {meant}; "
            f"for that project, go there or say: --project {meant}"
        )


def main(argv: list[str] | None = None) -> None:
    """Run a command; an error that a person can correct is one line on stderr."""
    write_privately()
    standard_streams.replace_closed()
    sys.excepthook = _tell_unexpected
    log.configure("nightshift", logging.WARNING)
    given: blame.Given = {}
    try:
        folder, arguments = _without_project(sys.argv[1:] if argv is None else argv)
        project.choose(folder)
        use_project(folder)
        given |= load_settings()
        if arguments[:1] and arguments[0] in MODULES and arguments[0] not in WARNING_THEMSELVES:
            variables.warn_of_unread(os.environ)
        # Not cli.main(): that ends with 1 when whoever read our output has seen enough.
        with cli.make_context(command_name(), arguments, obj=given) as context:
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
        tell_error(redact_text(blame.rightly(str(error), given)))
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


def _without_project(arguments: list[str]) -> tuple[str | None, list[str]]:
    """Take `--project DIR` out of the arguments, wherever it stands."""
    folder, rest = None, list(arguments)
    for index, argument in enumerate(arguments):
        if argument == "--":
            break
        name, equals, value = argument.partition("=")
        if name != "--project":
            continue
        if not equals and index + 1 == len(arguments):
            raise UsageError("--project: name the folder, as in --project /srv/shop")
        folder = value if equals else arguments[index + 1]
        rest = arguments[:index] + arguments[index + (1 if equals else 2) :]
        break
    return folder, rest


def _tell_usage(error: click.ClickException) -> None:
    """Say what is wrong in one line, beginning with the flag, and where to read on."""
    text = re.sub(r"^Invalid value for '([^']*)'[^:]*: ", r"\1: ", error.format_message())
    context = error.ctx if isinstance(error, click.UsageError) else None
    is_enough = context is None or text.endswith("?")
    see = "" if is_enough or context is None else f"; see: {context.command_path} --help"
    tell_error(redact_text(" ".join(text.split()).rstrip(".")) + see)


def _tell_unexpected(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Show a bug of ours whole, without the secrets and the controls that its texts may hold."""
    text = "".join(traceback.format_exception(kind, error, trace))
    tell_text(redact_text(text).rstrip("\n"), err=True)
