"""Options of contexts: which there are, what each may be, and who may say them."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker.context_fields import CHECKS, JOB_OPTIONS, LOOKS, SECRET_OPTIONS, Level, problem_in
from worker.context_types import ContextOptions

GOOD = {
    "base_url": "https://shop.example/de/",
    "bypass_csp": True,
    "color_scheme": "dark",
    "contrast": "more",
    "device": "iPhone 15",
    "device_scale_factor": 2.625,
    "extra_http_headers": {"X-Team": "night", "Authorization": {"secret": "SHOP_TOKEN"}},
    "forced_colors": "active",
    "geolocation": {"latitude": 52.5, "longitude": -13, "accuracy": 10},
    "has_touch": False,
    "http_credentials": {"username": "me", "password": {"secret": "SHOP_PASSWORD"}},
    "ignore_https_errors": True,
    "is_mobile": True,
    "java_script_enabled": False,
    "locale": "de-DE",
    "no_viewport": False,
    "offline": False,
    "permissions": ["geolocation"],
    "reduced_motion": "reduce",
    "screen": {"width": 1920, "height": 1080},
    "service_workers": "block",
    "storage_state": "state.json",
    "strict_selectors": True,
    "timezone_id": "Europe/Berlin",
    "user_agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0",
    "viewport": {"width": 1280, "height": 720},
}
HUNTER = "hunter22"


def test_every_option_can_be_said_and_has_a_type():
    assert GOOD.keys() == CHECKS.keys() == ContextOptions.__annotations__.keys()
    assert problem_in(GOOD, Level.TASK) is None
    assert problem_in(GOOD, Level.RUN) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("base_url", "shop.example"),
        ("base_url", "https://me:pw@shop.example/"),
        ("bypass_csp", "true"),
        ("color_scheme", "black"),
        ("device", 15),
        ("device_scale_factor", 0),
        ("device_scale_factor", True),
        ("device_scale_factor", float("nan")),
        ("extra_http_headers", ["X-Team: night"]),
        ("extra_http_headers", {"X Team": "night"}),
        ("extra_http_headers", {"X-Team": "ni\nght"}),
        ("extra_http_headers", {"X-Team": 5}),
        ("geolocation", {"latitude": 52.5}),
        ("geolocation", {"latitude": 91, "longitude": 0}),
        ("geolocation", {"latitude": 52.5, "longitude": 13.4, "height": 3}),
        ("http_credentials", {"username": "me"}),
        ("http_credentials", {"username": "me", "password": 5}),
        ("locale", "German"),
        ("locale", ""),
        ("permissions", "geolocation"),
        ("permissions", [["geolocation"]]),
        ("screen", {"width": 1920}),
        ("service_workers", "deny"),
        ("storage_state", {"cookie": []}),
        ("storage_state", {"cookies": {}}),
        ("storage_state", ""),
        ("timezone_id", "Europe/Berlni"),
        ("timezone_id", "/etc/passwd"),
        ("timezone_id", None),
        ("user_agent", "two\nlines"),
        ("user_agent", " "),
        ("viewport", {"width": 0, "height": 720}),
        ("viewport", {"width": 1280.5, "height": 720}),
        ("viewport", [1280, 720]),
        ("viewport", {"width": 10**9, "height": 720}),
    ],
)
def test_a_wrong_value_is_told_in_one_line_that_begins_with_its_name(name, value):
    problem = problem_in({name: value}, Level.TASK)

    assert problem is not None
    assert problem.startswith(f"{name}: expected ")
    assert "\n" not in problem


def test_the_nearest_is_named_for_what_is_mistyped():
    assert problem_in({"viewprt": {}}, Level.TASK) == (
        "unknown option viewprt; did you mean viewport?"
    )
    assert problem_in({"userAgent": ""}, Level.TASK) == (
        "unknown option userAgent; did you mean user_agent?"
    )
    near = problem_in({"timezone_id": "Europe/Berlni"}, Level.TASK)
    assert near == "timezone_id: expected a time zone such as Europe/Berlin, got 'Europe/Berlni'"


@pytest.mark.parametrize("name", ["x" * 100_000, "\x1b[31m", "ß"])
def test_a_name_that_is_none_is_told_in_one_short_line(name):
    problem = problem_in({name: 1}, Level.JOB)

    assert problem is not None
    assert len(problem) < 700
    assert problem.isprintable()


def test_what_is_said_elsewhere_is_told_where():
    assert "launcher.py proxies" in str(problem_in({"proxy": {}}, Level.TASK))
    assert "downloads=True" in str(problem_in({"accept_downloads": True}, Level.TASK))


@pytest.mark.parametrize("options", ["{}", [], 5, None])
def test_options_without_names_are_refused(options):
    assert problem_in(options, Level.TASK) == 'give options by name, as in {"locale": "de-DE"}'


@pytest.mark.parametrize("name", ["viewport", "screen", "device", "device_scale_factor"])
def test_a_window_of_any_size_has_none_given(name):
    problem = problem_in({"no_viewport": True, name: GOOD[name]}, Level.TASK)

    assert problem == f"no_viewport and {name} contradict each other; leave one of them out"


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_a_job_may_say_how_it_looks_and_names_secrets_only(name):
    problem = problem_in({name: GOOD[name]}, Level.JOB)

    if name in JOB_OPTIONS or name == "http_credentials":
        assert problem is None
    elif name in SECRET_OPTIONS:
        assert str(problem).startswith(f"{name}: a job may only name secrets")
    else:
        assert problem == f"{name}: not for a single job; its task or its run may say so"


def test_a_job_may_name_the_secrets_that_it_needs():
    options = {
        "extra_http_headers": {"Authorization": {"secret": "SHOP_TOKEN"}},
        "http_credentials": {"username": "me", "password": {"secret": "SHOP_PASSWORD"}},
        "storage_state": {"secret": "SHOP_STATE"},
    }

    assert problem_in(options, Level.JOB) is None


def test_a_job_has_no_permission_that_its_task_does_not_give():
    assert problem_in({"permissions": ["geolocation"]}, Level.JOB) is None
    assert problem_in({"permissions": ["clipboard-read"]}, Level.JOB) == (
        "permissions: a job may have no permission but geolocation"
    )


@pytest.mark.parametrize("level", [Level.RUN, Level.JOB])
@pytest.mark.parametrize(
    "options",
    [
        {"http_credentials": {"username": "me", "password": HUNTER}},
        {"extra_http_headers": {"Authorization": HUNTER}},
        {"extra_http_headers": {"X-Api-Key": HUNTER}},
        {"storage_state": {"cookies": [{"name": "sid", "value": HUNTER}]}},
    ],
)
def test_no_secret_stands_where_others_read_it_and_none_is_repeated(options, level):
    problem = problem_in(options, level)

    assert "the secret instead" in str(problem)
    assert HUNTER not in str(problem)
    assert problem_in(options, Level.TASK) is None


@pytest.mark.parametrize("name", sorted(SECRET_OPTIONS))
def test_a_wrong_value_that_may_be_a_secret_is_not_repeated(name):
    problem = problem_in({name: [HUNTER]}, Level.TASK)

    assert str(problem).startswith(f"{name}: expected ")
    assert HUNTER not in str(problem)


def test_a_path_may_be_one():
    assert problem_in({"storage_state": Path("state.json")}, Level.TASK) is None


def test_what_a_face_stands_for_is_what_a_job_may_say():
    assert LOOKS < JOB_OPTIONS < CHECKS.keys()
