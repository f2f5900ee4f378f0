"""Groups of commands with a default command; what every `--help` says; what was probably meant."""

from __future__ import annotations

import difflib

import click

from worker.exit_codes import table

# The mark keeps click from joining the lines.
HELP_EPILOG = (
    "\b\n"
    "DURATION is a number of seconds, or written with its unit: 600, 90s, 10m, 6h, 30d.\n"
    "--project DIR  The folder with .env, nightshift.toml, errors/, results/ and .local/.\n\n"
    f"\b\n{table()}"
)
OWN_FLAGS = ("-h", "--help", "--version")
# Longer than any sentence: nothing is cut.
WHOLE = 10_000


class DefaultGroup(click.Group):
    """A group whose default command takes bare flags too: `limits --json` lists as JSON."""

    default = "list"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in OWN_FLAGS):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        return None if command is None else with_epilog(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.list_commands(ctx) and not ctx.resilient_parsing:
            raise click.UsageError(f"{args[0]} is no command{self._meant(ctx, args[0])}", ctx)
        return super().resolve_command(ctx, args)

    def _meant(self, ctx: click.Context, name: str) -> str:
        near = difflib.get_close_matches(name, self.list_commands(ctx), n=1, cutoff=0.5)
        return f"; did you mean {near[0]}?" if near else ""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with its whole first sentence."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, each.get_short_help_str(WHOLE)) for name, each in found if each is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def with_epilog(command: click.Command) -> click.Command:
    """Let a command's `--help` end with durations and exit codes."""
    command.epilog = command.epilog or HELP_EPILOG
    return command
