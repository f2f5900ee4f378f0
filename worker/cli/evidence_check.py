"""One check of `doctor`: can evidence be put where all hosts find it?"""

from __future__ import annotations

import os

from worker.evidence.shared_place import VARIABLE, place_of
from worker.system.fork import call_in_child


def check() -> str:
    """Try the shared place out; raises SettingsError or EvidenceUnavailable with what is wrong."""
    place = place_of(os.environ)
    if place is None:
        return f"evidence stays on the host of its worker ({VARIABLE} is not set)"
    call_in_child(place.try_out)
    return "the shared place for evidence can be written and read"
