"""The command line: which commands there are, and which error ends in which exit code."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from worker import __version__
from worker.cli import control, database, demo, doctor, drill, enqueue, inspect, run, sweep
from worker.errors import NightshiftError
from worker.log import redact
from worker.settings import PROJECT_ROOT, load_dotenv

EXIT_UNEXPECTED = 1


class DefaultGroup(click.Group):
    """A group whose bare flags belong to `run`: `launcher.py --workers 6` is a run."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ("-h", "--help", "--version")):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=DefaultGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="nightshift")
def cli() -> None:
    """Nightshift: a pool of browser workers that drains a MySQL queue.

    Without a command this is `run`: python launcher.py --workers 6
    """


for module in (run, enqueue, inspect, control, sweep, database, doctor, demo, drill):
    for command in module.COMMANDS:
        cli.add_command(command)


def main(argv: list[str] | None = None) -> None:
    """Run a command; every error a person can mend is one line on stderr."""
    try:
        load_dotenv(Path(os.environ.get("NIGHTSHIFT_ENV_FILE") or PROJECT_ROOT / ".env"))
        # Not cli.main(): that ends with 1 when whoever read our output has seen enough.
        arguments = sys.argv[1:] if argv is None else argv
        with cli.make_context("launcher.py", list(arguments)) as context:
            code = cli.invoke(context)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Exit as ending:
        sys.exit(ending.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except NightshiftError as error:
        click.echo(f"nightshift: {redact(str(error))}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
