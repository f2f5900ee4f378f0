"""Groups of commands with a default command, and the exit codes for `--help`."""

from __future__ import annotations

import click

from worker.exit_codes import table

# The mark keeps click from joining the lines.
HELP_EPILOG = f"\b\n{table()}"
OWN_FLAGS = ("-h", "--help", "--version")


class DefaultGroup(click.Group):
    """A group whose default command takes bare flags too: `limits --json` lists as JSON."""

    default = "list"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in OWN_FLAGS):
            args = [self.default, *args]
        return super().parse_args(ctx, args)
