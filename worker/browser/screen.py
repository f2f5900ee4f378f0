"""A screen to show windows on: there is one where a display is named."""

from __future__ import annotations

from collections.abc import Mapping

from worker.errors import LaunchFailed

NO_DISPLAY = (
    "there is no display to open a window on: run this in a desktop session, set DISPLAY, "
    "or put `xvfb-run` before the command"
)


def require_display(environment: Mapping[str, str]) -> None:
    """Raise LaunchFailed unless the environment names a display."""
    if not environment.get("DISPLAY") and not environment.get("WAYLAND_DISPLAY"):
        raise LaunchFailed(NO_DISPLAY)
