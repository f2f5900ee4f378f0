"""The command line: which commands there are, and which error ends in which exit code."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import click

from worker import __version__
from worker.cli.groups import HELP_EPILOG, DefaultGroup
from worker.errors import NightshiftError
from worker.evidence.redaction import redact_text
from worker.exit_codes import ExitCode
from worker.settings import PROJECT_ROOT, load_dotenv

# Where each command is: a module is imported when one of its commands is used, because all of
# them together take longer to import than most commands do to run.
MODULES = {
    "run": "run",
    "enqueue": "enqueue",
    "export": "export",
    "status": "inspect",
    "show": "inspect",
    "why": "inspect",
    "todo": "todo",
    "errors": "errors",
    "retry": "requeue",
    "discard": "requeue",
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
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(ExitCode.INTERRUPTED)
    except NightshiftError as error:
        click.echo(f"nightshift: {redact_text(str(error))}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ExitCode.OK)
