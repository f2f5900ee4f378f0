"""What keeps Chromium from its sandbox is named with the one setting that allows it."""

from __future__ import annotations

import os

import pytest

from worker.browser import sandbox


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "SYSTEM_SETTINGS", tmp_path)

    def setting(name, value):
        path = tmp_path / name.replace(".", "/")
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{value}\n", encoding="ascii")

    return setting


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("kernel.apparmor_restrict_unprivileged_userns", 1, "userns=0"),
        ("kernel.unprivileged_userns_clone", 0, "clone=1"),
        ("user.max_user_namespaces", 0, "namespaces=10000"),
    ],
)
def test_the_setting_that_is_in_the_way_is_named(kernel, name, value, remedy):
    kernel(name, value)

    assert f"sysctl {name}" in sandbox.how_to_allow()
    assert remedy in sandbox.how_to_allow()


def test_a_kernel_that_allows_it_points_to_the_container(kernel):
    kernel("kernel.unprivileged_userns_clone", 1)
    kernel("user.max_user_namespaces", 96349)

    assert "a container needs a seccomp profile" in sandbox.how_to_allow()


def test_without_a_browser_no_sandbox_is_on():
    assert not sandbox.is_on(os.getpid())
