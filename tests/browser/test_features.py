"""Our list of features that are off holds all of Playwright's, since ours takes its place."""

from __future__ import annotations

import os
from pathlib import Path

from worker.browser import features
from worker.browser.options import find_browser
from worker.system import process_tree
from worker.system.process_tree import ProcessId

SWITCH = "--disable-features="


def disabled_in(process: ProcessId) -> list[list[str]]:
    """The lists on a browser's command line, in their order."""
    arguments = Path(f"/proc/{process.pid}/cmdline").read_text().replace("\0", " ").split()
    return [each.removeprefix(SWITCH).split(",") for each in arguments if each.startswith(SWITCH)]


def test_the_list_is_that_of_the_installed_playwright(session):
    driver, ours = session.processes()
    bare = session.page_for_job().context.browser.browser_type.launch(
        executable_path=find_browser(), chromium_sandbox=os.geteuid() != 0
    )
    (process,) = [each for each in process_tree.find_browsers(driver) if each != ours]
    (theirs,) = disabled_in(process)
    bare.close()

    assert sorted(features.PLAYWRIGHTS) == sorted(theirs)


def test_the_last_list_is_ours(session):
    _, ours = session.processes()

    assert disabled_in(ours)[-1] == [*features.PLAYWRIGHTS, *features.OURS]
