"""Show a run to programs: every line on stderr is one JSON object (`--log-format json`)."""

from __future__ import annotations

import sys

from worker.log_lines import json_line, parse
from worker.supervisor.view import PoolView


class JsonDisplay:
    """Pass on what children log, and wrap what they merely print."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet

    def update(self, view: PoolView) -> None:
        pass

    def line(self, who: str, text: str) -> None:
        # Who it was is the launcher's word: a task could print a line that names another worker.
        if (found := parse(text)) is not None:
            level, job, message = found["level"], found["job"], found["message"]
        else:
            level, job, message = "info", None, text
        _write(json_line(message, level=level, worker=who, job=job))

    def say(self, text: str) -> None:
        if not self._quiet:
            _write(json_line(text, level="info", worker=None))

    def close(self) -> None:
        pass


def _write(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
