"""When a vendor's API may be asked: its minimum interval, its rests, one request at a time.

All of it holds over the processes of this machine, by files in the state folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from worker.browser.providers.one_at_a_time import alone
from worker.browser.providers.pace import Pace
from worker.browser.providers.preset import Preset


class VendorTurns:
    """The files by which processes agree, for one vendor at one address."""

    def __init__(self, preset: Preset, state_dir: Path, base_url: str) -> None:
        self._preset = preset
        self._folder = state_dir
        self._stem = f"vendor-{preset.name}-{_digest(base_url)}"
        self.path = state_dir / f"{self._stem}.turn"
        self._pace = Pace(self.path, preset.min_interval_seconds)

    def take(self, longest_wait_seconds: float) -> float | None:
        """Wait for a turn; if it is too far off, take none and give the seconds to it."""
        return self._pace.take_turn(longest_wait_seconds)

    def rest(self, seconds: float) -> None:
        """Let nobody ask the vendor for `seconds`."""
        self._pace.rest(seconds)

    @contextmanager
    def only_one(self, deadline: float) -> Iterator[bool]:
        """Ask while nobody else does, if the vendor bears one at a time only; False: all busy."""
        if not self._preset.one_at_a_time:
            yield True
            return
        with alone(self._folder / f"{self._stem}.busy", deadline) as is_alone:
            yield is_alone

    def note_stop(self, profile: str) -> None:
        """Keep that a profile was stopped just now, if it must not be started at once again."""
        if (seconds := self._preset.restart_pause_seconds) > 0:
            Pace(self._stop_path(profile), 0.0).rest(seconds)

    def wait_after_stop(self, profile: str, longest_wait_seconds: float) -> float | None:
        """Wait until a stopped profile may be started; give the seconds if that is too far off."""
        path = self._stop_path(profile)
        if self._preset.restart_pause_seconds <= 0 or not path.exists():
            return None
        return Pace(path, 0.0).take_turn(longest_wait_seconds)

    def _stop_path(self, profile: str) -> Path:
        return self._folder / f"{self._stem}-{_digest(profile)}.stop"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
