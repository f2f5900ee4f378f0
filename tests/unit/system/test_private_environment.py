"""What browsers, drivers and jobs get to see of the pool's environment."""

from __future__ import annotations

import pytest

from worker.system.private_environment import is_of_the_pool, secrets_of, without_secrets


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "mysql://x"),
        ("MYSQL_HOST", "db"),
        ("NIGHTSHIFT_WEBHOOK_SECRET", "x"),
        ("SENTRY_DSN", "https://abc@sentry.test/1"),
        ("MY_DSN", "https://sentry.test/1"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("GITHUB_TOKEN", "x"),
        ("SHOP_PASSWORD", "x"),
        ("api_key", "x"),
        ("CELERY_BROKER", "redis://:x@queue.test/0"),
        ("SSH_AUTH_SOCK", "/tmp/agent"),
    ],
)
def test_secrets_and_settings_of_the_pool_stay_with_it(name, value):
    assert without_secrets({name: value, "LANG": "C"}) == {"LANG": "C"}


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ("http://me:hunter2@proxy.test:8080", "http://proxy.test:8080"),
        ("http://me:hun@ter2@proxy.test:8080/", "http://proxy.test:8080/"),
        ("me:hunter2@proxy.test:8080", "proxy.test:8080"),
        ("http://proxy.test:8080", "http://proxy.test:8080"),
        ("socks5://me:hunter2@proxy.test", "socks5://proxy.test"),
    ],
)
@pytest.mark.parametrize("name", ["http_proxy", "HTTPS_PROXY", "all_proxy", "FTP_PROXY"])
def test_a_proxy_stays_without_its_login(name, value, left):
    assert without_secrets({name: value}) == {name: left}


@pytest.mark.parametrize(
    "name", ["PATH", "HOME", "PWD", "XAUTHORITY", "XDG_SESSION_TYPE", "DBUS_SESSION_BUS_ADDRESS",
             "no_proxy", "LC_ALL", "DISPLAY", "CIVIL"],
)  # fmt: skip
def test_what_a_browser_needs_stays(name):
    assert without_secrets({name: "some value"}) == {name: "some value"}


def test_a_job_may_not_read_the_pools_settings():
    assert all(
        map(is_of_the_pool, ["DATABASE_URL", "NIGHTSHIFT_X", "mysql_password", "HTTP_PROXY"])
    )
    assert not any(map(is_of_the_pool, ["SHOP_PASSWORD", "DATABASE_URLS", "MYSQLSHOP"]))


def test_values_of_secret_variables_are_listed_unless_they_may_be_any_word():
    environment = {"SHOP_PASSWORD": "a long one", "X_TOKEN": "on", "SSH_AUTH_SOCK": "/tmp/agent.1"}

    assert secrets_of({**environment, "LANG": "de_DE.UTF-8"}) == ["a long one"]
