"""One check of `doctor`: could everybody be told who is to be told?"""

from __future__ import annotations

import os

from worker.cli.notify import notify_targets
from worker.errors import SettingsError
from worker.notices import sending, targets
from worker.references import file_of
from worker.system.fork import call_in_child
from worker.system.private_files import is_open_to_others
from worker.urls import notify_url_problem


def check() -> str:
    """Say whom a run tells; raises SettingsError with what to correct."""
    values = os.environ.get(targets.VARIABLE, "").split()
    if not values:
        return "nobody is told when a run goes wrong (NIGHTSHIFT_NOTIFY is not set)"
    if problem := notify_url_problem(values):
        raise SettingsError(f"NIGHTSHIFT_NOTIFY: {problem}")
    for value in values:
        if (path := file_of(value)) is not None and is_open_to_others(path):
            raise SettingsError(f"other users may read {path}; type: chmod go= {path}")
    urls = notify_targets(values)
    call_in_child(sending.check, urls)
    names = ", ".join(targets.name_of(url, number) for number, url in enumerate(urls, 1))
    return f"a run that goes wrong tells {names}; try it: python launcher.py notify --test"
