"""Which names queues may have, and which names are one and the same."""

from __future__ import annotations

import re


def queue_problem(name: str) -> str | None:
    """Say what is wrong with the name of a queue, if something is."""
    if re.fullmatch(r"[\w.:@+-]{1,50}", name):
        return None
    return "a queue's name has 1 to 50 letters, digits or . _ - : @ +"


def queues_problem(names: str) -> str | None:
    """Say what is wrong with a list of queues, if something is."""
    found = (queue_problem(name.strip()) for name in names.split(","))
    return next((problem for problem in found if problem), None)


def as_compared(name: str) -> str:
    """Return a queue's or task's name without blanks at its end: the server sees no difference.

    A row of a plain INSERT may have some. Its comparisons pad (PAD SPACE), so ours do, too.
    """
    return name.rstrip(" ")
