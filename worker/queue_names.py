"""Which names queues may have."""

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
