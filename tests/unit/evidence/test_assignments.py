"""What is assigned to a secret's name is masked, in every notation; what only looks so is not."""

from __future__ import annotations

import pytest

from worker.evidence.assignments import _ENDINGS, _ENDINGS_BY_MARK, mask_assignments
from worker.evidence.known_secrets import MASK


@pytest.mark.parametrize(
    "text",
    [
        "password=hunter2",
        "Password : hunter2",
        'DB_PASSWORD="a hunter2"',
        '{"password":"hun\\"hunter2"}',
        '{\\"password\\": \\"hunter2\\", \\"a\\": 1}',
        '"{\\\\\\"password\\\\\\":\\\\\\"hunter2 x\\\\\\"}"',
        "Login(user='me', password='hunter2')",
        "Authorization: Digest username=me, response=hunter2",
        "authorization: ApiKey hunter2",
        "Cookie: theme=dark; sid=hunter2",
        "set-cookie: a=hunter2; Path=/",
        '{"name": "cookie", "value": "a=hunter2"}',
        '{"name":"x-csrf-token","value":"hunter2"}',
        "PHPSESSID=hunter2",
        "connect.sid=hunter2",
        "session=hunter2",
        '"auth": "hunter2"',
        "jwt: hunter2",
        "client_secret = hunter2",
        "private_key='hunter2",
        "otp=hunter2&x=1",
        "pw=hunter2",
        "İstanbul İ password=hunter2",
    ],
)
def test_what_is_assigned_to_a_secrets_name_is_masked(text):
    assert "hunter2" not in mask_assignments(text)
    assert MASK in mask_assignments(text)


@pytest.mark.parametrize(
    "text",
    [
        "exit code: 1",
        "3 pass: all of them, 2 failed",
        "session: 4 s left",
        "the password was refused",
        "passenger=2",
        "key: value",
        "no token",
        "3 tokens: spent",
        "author=me",
        "token: null",
        '{"password": null, "secret": true}',
        "class Secrets(dict): x = 1",
    ],
)
def test_what_only_looks_like_it_stays(text):
    assert mask_assignments(text) == text


def test_what_follows_a_secret_is_kept():
    text = '{"password": "hunter2", "page": 3} and token=abc then more'

    assert (
        mask_assignments(text) == f'{{"password": "{MASK}", "page": 3}} and token={MASK} then more'
    )


def test_a_value_without_an_end_is_masked_to_the_end_of_its_line():
    assert mask_assignments('{"password": "hunter2 and\nmore') == f'{{"password": "{MASK}\nmore'


def test_every_name_is_searched_for_by_a_mark_that_it_holds():
    assert {each for found in _ENDINGS_BY_MARK.values() for each in found} == set(_ENDINGS)
    assert all(mark in each for mark, found in _ENDINGS_BY_MARK.items() for each in found)
