"""URLs that can be opened and URLs that can be called."""

from __future__ import annotations

import pytest

from worker.urls import callback_url_problem, job_url_problem


@pytest.mark.parametrize("check", [job_url_problem, callback_url_problem])
@pytest.mark.parametrize("url", ["http://a.test", "https://a.test:8080/b?c=d#e", "HTTP://A.test/"])
def test_web_addresses_are_fine(check, url):
    assert check(url) is None


@pytest.mark.parametrize("check", [job_url_problem, callback_url_problem])
@pytest.mark.parametrize(
    "url", ["", "a.test", "ftp://a.test", "http://", "http:///b", "http://a b"]
)
def test_everything_else_is_told_how_to_be_one(check, url):
    assert "write http://… or https://…" in check(url)


def test_each_has_its_longest():
    assert "longer than 8192" in job_url_problem("http://a.test/" + 8192 * "b")
    assert "longer than 2048" in callback_url_problem("http://a.test/" + 2048 * "b")


@pytest.mark.parametrize("url", ["http://a.test:x/", "http://a.test:0/", "hunter2"])
def test_a_wrong_callback_is_not_repeated(url):
    assert "hunter2" not in callback_url_problem(url)
