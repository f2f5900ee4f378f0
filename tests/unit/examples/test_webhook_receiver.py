"""The receiver in examples/ takes what Nightshift signs, once, and nothing else."""

from __future__ import annotations

import http.client
import time
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from examples.webhook_receiver import Inbox, Refused, serve, verify
from tests.unit.webhook_event import EVENT, SECRET
from worker.webhooks.signature import body_of, signed_headers


def signed(**changes):
    event = replace(EVENT, now_seconds=int(time.time()), **changes)
    body = body_of(event)
    return signed_headers(SECRET.encode(), event, body), body


def post(url, headers, body):
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)
    connection.request("POST", urlsplit(url).path, body, headers)
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.fixture
def inbox(tmp_path):
    return Inbox(tmp_path / "events.sqlite")


@pytest.fixture
def url(inbox):
    with serve(SECRET, inbox) as url:
        yield url


def test_what_nightshift_signs_is_taken(url, inbox):
    assert post(url, *signed()) == 200

    (event,) = inbox.events()
    assert event == {
        "event": "job.done",
        "event_id": EVENT.event_id,
        "job_id": 17,
        "task": "visit",
        "dedupe_key": None,
        "attempt": 2,
        "happened_at": "2026-01-02T03:04:05.000678Z",
        "result": {"title": "Grüße"},
        "reason": None,
        "profile": None,
        "account": None,
        "proxy": None,
    }


def test_an_event_that_comes_twice_is_kept_once(url, inbox):
    assert [post(url, *signed()), post(url, *signed())] == [200, 200]

    assert len(inbox.events()) == 1


def test_a_changed_body_is_refused(url, inbox):
    headers, body = signed()

    assert post(url, headers, body.replace(b'"job_id":17', b'"job_id":18')) == 401
    assert inbox.events() == []


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Nightshift-Signature", "v1=" + "0" * 64),
        ("Nightshift-Signature", ""),
        ("Nightshift-Timestamp", "now"),
    ],
)
def test_a_changed_head_is_refused(url, inbox, header, value):
    headers, body = signed()

    assert post(url, {**headers, header: value}, body) == 401
    assert inbox.events() == []


def test_a_changed_time_is_refused(url, inbox):
    headers, body = signed()
    headers["Nightshift-Timestamp"] = str(int(headers["Nightshift-Timestamp"]) + 1)

    assert post(url, headers, body) == 401
    assert inbox.events() == []


def test_another_secret_is_refused():
    headers, body = signed()

    with pytest.raises(Refused, match="signature"):
        verify("another secret", headers, body)


@pytest.mark.parametrize("seconds", [-301, 301])
def test_an_old_delivery_cannot_be_replayed(seconds):
    headers, body = signed()
    sent_at = int(headers["Nightshift-Timestamp"])

    verify(SECRET, headers, body, now=sent_at)
    with pytest.raises(Refused, match="timestamp"):
        verify(SECRET, headers, body, now=sent_at + seconds)
