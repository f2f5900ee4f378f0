"""Which browser may be asked for, with which arguments, and what contradicts what."""

from __future__ import annotations

import pytest

from worker.browser_settings import arguments_problem, context_problem, contradiction
from worker.database_settings import DatabaseSettings
from worker.errors import UsageError
from worker.settings import RunSettings


@pytest.mark.parametrize(
    "argument",
    [
        *("--proxy-server=http://me:hunter2@proxy:1", "--no-proxy-server", "--enable-quic"),
        *("--host-resolver-rules=MAP * 1.2.3.4", "--user-data-dir=/home/me/hunter2"),
        *("--remote-debugging-port=9222", "--headless", "-headless=new", "--user-agent=hunter2"),
        *("--PROXY-SERVER=hunter2", "https://hunter2.example", ""),
    ],
)
def test_an_argument_that_undoes_a_promise_is_refused_without_its_value(argument):
    problem = arguments_problem(["--mute-audio", argument])

    assert problem is not None
    assert "hunter2" not in problem or "is no argument" in problem


def test_other_arguments_are_the_operators():
    assert arguments_problem(["--lang=de", "--disable-features=Translate", "--no-sandbox"]) is None


def test_options_of_contexts_are_json_with_names():
    assert context_problem('{"locale": "de-DE"}') is None
    assert "not JSON" in str(context_problem("{locale}"))
    assert "did you mean locale?" in str(context_problem('{"locales": "de"}'))


@pytest.mark.parametrize(
    ("browser", "told"),
    [
        ({"browser_type": "firefox", "browser_channel": "chrome"}, "leave out --browser-type"),
        ({"browser": "/usr/bin/chromium", "browser_channel": "msedge"}, "give one of them"),
        ({"browser_type": "webkit", "deny_private": True}, "--deny-private holds in Chromium only"),
        ({"browser_args": ("--proxy-server=x",)}, "--browser-args: --proxy-server: "),
        ({"slow_mo_seconds": 30.0}, "--slow-mo 30 is too large; give 2 s or less"),
        ({"browser_context": '{"locale": 5}'}, "--browser-context: locale: expected a locale"),
        ({"block": ("imge",)}, "--block: 'imge' is neither"),
    ],
)
def test_a_run_is_not_begun_with_what_cannot_be_had(browser, told):
    with pytest.raises(UsageError, match=told):
        RunSettings(DatabaseSettings(), **browser)


def test_a_path_may_be_another_browsers():
    assert contradiction("/opt/firefox", "firefox", None) is None
