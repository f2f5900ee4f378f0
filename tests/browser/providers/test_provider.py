"""What every provider promises: a page that works, an end that ends, and errors with a kind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from worker.browser.providers.provider import attempt

REPO = Path(__file__).parents[3]


def test_its_page_can_be_used(world, open_profile, site):
    opened = open_profile(world)
    page = opened.context.new_page()
    page.goto(site.url("/"))

    assert page.title() == "Home"
    assert opened.is_alive
    assert opened.is_ours == (world.name == "local")


def test_closing_stops_the_browser_unless_it_is_somebody_elses(world, open_profile, site):
    opened = open_profile(world)
    opened.context.new_page().goto(site.url("/"))
    assert world.is_running()
    world.provider.close(opened, attempt)

    assert world.is_running() == (world.name == "cdp")
    assert not opened.is_alive


def test_a_login_lasts_from_one_opening_to_the_next(world, open_profile, site):
    opened = open_profile(world)
    page = opened.context.new_page()
    page.goto(site.url("/"))
    page.evaluate("document.cookie = 'login=yes; Max-Age=10000'")
    page.evaluate("localStorage.login = 'yes'")
    page.close()
    world.provider.close(opened, attempt)

    page = open_profile(world).context.new_page()
    page.goto(site.url("/"))
    assert "login=yes" in page.evaluate("document.cookie")
    assert page.evaluate("localStorage.login") == "yes"


# One of each kind: the same process is killed in the same way for all vendors.
@pytest.mark.parametrize("name", ["local", "cdp", "kameleo", "adspower", "browserbase"])
def test_it_is_stopped_after_its_worker_was_killed(
    make_world, environment, open_profile, site, wait_until, name
):
    world = make_world(name)
    holder = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.browser.profile_holder"),
            *(world.name, world.target, str(world.tmp_dir)),
        ],
        cwd=REPO,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        assert world.is_running()
        holder.kill()
    world.provider.stop(world.spec)
    world.provider.stop(world.spec)

    wait_until(lambda: world.is_running() == (world.name == "cdp"))
    page = open_profile(world).context.new_page()
    page.goto(site.url("/"))
    assert page.title() == "Home"


def test_stopping_what_does_not_run_is_fine(world):
    world.provider.stop(world.spec)
    world.provider.stop(world.spec)


def test_killing_ends_the_browser_without_playwright(world, open_profile, wait_until):
    opened = open_profile(world)
    world.provider.kill(opened)

    wait_until(lambda: world.is_running() == (world.name == "cdp"))
