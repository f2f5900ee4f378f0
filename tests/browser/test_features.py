"""Our lists of features hold all of Playwright's, since ours take their place."""

from __future__ import annotations

import os
from pathlib import Path

from worker.browser import features, sandbox
from worker.browser.features import OFF, ON
from worker.browser.options import find_browser
from worker.system import process_tree
from worker.system.process_tree import ProcessId


def lists_in(process: ProcessId, switch: str) -> list[list[str]]:
    """The lists of one kind on a browser's command line, in their order."""
    arguments = Path(f"/proc/{process.pid}/cmdline").read_text().replace("\0", " ").split()
    return [each.removeprefix(switch).split(",") for each in arguments if each.startswith(switch)]


def test_the_lists_are_those_of_the_installed_playwright(session):
    driver, ours = session.processes()
    bare = session.page_for_job().context.browser.browser_type.launch(
        executable_path=find_browser(), chromium_sandbox=os.geteuid() != 0
    )
    (process,) = [each for each in process_tree.find_browsers(driver) if each != ours]
    (off,), (on,) = lists_in(process, OFF), lists_in(process, ON)
    bare.close()

    assert sorted(features.PLAYWRIGHTS_OFF) == sorted(off)
    assert sorted(features.PLAYWRIGHTS_ON) == sorted(on)


def test_the_last_lists_are_ours(session):
    _, ours = session.processes()

    assert lists_in(ours, OFF)[-1] == [*features.PLAYWRIGHTS_OFF, *features.OURS_OFF]
    assert lists_in(ours, ON)[-1] == [*features.PLAYWRIGHTS_ON, *features.OURS_ON]


DRAW = """() => {
    const gl = document.createElement('canvas').getContext('webgl'), pixel = new Uint8Array(4)
    gl.clearColor(0, 1, 0, 1)
    gl.clear(gl.COLOR_BUFFER_BIT)
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel)
    return [...pixel]
}"""


def test_the_network_has_no_process_of_its_own_and_drawing_none_without_a_sandbox(session, site):
    page = session.page_for_job()
    page.goto(site.url("/"))
    driver, _ = session.processes()
    lines = [
        Path(f"/proc/{each.pid}/cmdline").read_bytes()
        for each in process_tree.descendants(driver.pid)
    ]

    assert any(b"--type=renderer" in line for line in lines)
    assert not any(b"network.mojom.NetworkService" in line for line in lines)
    has_own_drawing = any(b"--type=gpu-process" in line for line in lines)
    assert has_own_drawing == (sandbox.is_wanted() or not session.options.is_shell)
    assert page.evaluate(DRAW) == [0, 255, 0, 255]
