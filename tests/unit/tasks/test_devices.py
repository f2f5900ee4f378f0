"""The devices of the installed Playwright."""

from __future__ import annotations

import pytest

from worker.errors import LaunchFailed
from worker.tasks import devices


@pytest.fixture
def asked_anew():
    devices.known.cache_clear()
    yield
    devices.known.cache_clear()


def test_a_device_has_the_options_that_playwright_gives_it():
    found = devices.options_of("iPhone 15")

    assert found.keys() == {
        *("user_agent", "viewport", "screen", "device_scale_factor", "is_mobile", "has_touch"),
    }
    assert "iPhone" in found["user_agent"]


def test_one_that_is_not_known_is_told_with_the_nearest():
    assert devices.problem_of("iPhone 15") is None
    assert devices.problem_of("iPhone15") == (
        "device: Playwright knows no 'iPhone15'; did you mean iPhone 15?"
    )
    assert len(str(devices.problem_of("x" * 10_000))) < 300
    assert '"iPhone 15"' in str(devices.problem_of("?"))


@pytest.mark.usefixtures("asked_anew")
@pytest.mark.parametrize("program", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\necho none\n", None])
def test_a_driver_that_does_not_tell_them_is_one_line_with_a_remedy(
    program, tmp_path, monkeypatch: pytest.MonkeyPatch
):
    node = tmp_path / "node"
    if program is not None:
        node.write_text(program)
        node.chmod(0o755)
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(node))

    with pytest.raises(LaunchFailed, match=r"does not tell its devices.*make setup"):
        devices.problem_of("iPhone 15")
