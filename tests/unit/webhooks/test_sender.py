"""One delivery: whatever the receiver does, it ends in time with a receipt that says what."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.unit.webhook_event import EVENT, SECRET
from tests.unit.webhooks.receiver import OK, Receiver, answer
from worker.errors import SettingsError
from worker.webhooks import sender
from worker.webhooks.sender import Sender, WebhookSettings, judge, shown


@pytest.fixture
def receive():
    """Start receivers; all end with the test."""
    started = []

    def receive(behave=lambda receiver, connection: connection.sendall(OK), context=None):
        started.append(Receiver(behave, context))
        return started[-1]

    yield receive
    for receiver in started:
        receiver.close()


def send(url, *, allow_private=True):
    async def deliver():
        async with Sender(WebhookSettings(SECRET.encode(), allow_private)) as sender:
            return await sender.send(replace(EVENT, url=url, now_seconds=int(time.time())))

    return asyncio.run(deliver())


def test_a_2xx_has_arrived(receive):
    receiver = receive(answer(b"HTTP/1.1 204 No Content\r\n\r\n"))

    assert send(f"http://127.0.0.1:{receiver.port}/hook?x=1").problem is None
    (request,) = receiver.requests
    assert request.startswith(b"POST /hook?x=1 HTTP/1.1\r\n")
    assert f"Host: 127.0.0.1:{receiver.port}\r\n".encode() in request


def test_credentials_in_the_url_become_a_login(receive):
    receiver = receive()

    assert send(f"http://user:pass@127.0.0.1:{receiver.port}/").problem is None
    assert b"Authorization: Basic dXNlcjpwYXNz\r\n" in receiver.requests[0]


def test_a_redirect_is_not_followed(receive):
    target = receive()
    head = f"HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:{target.port}/\r\n\r\n"
    receiver = receive(answer(head.encode()))

    receipt = send(f"http://127.0.0.1:{receiver.port}/")

    assert "answered 307, a redirect, which is not followed" in receipt.problem
    assert not receipt.is_final
    assert target.requests == []


def test_no_proxy_of_the_environment_is_asked(receive, monkeypatch):
    proxy, receiver = receive(), receive()
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")

    assert send(f"http://127.0.0.1:{receiver.port}/").problem is None
    assert proxy.requests == []


@pytest.mark.parametrize("drip", [b"", b"H", b"HTTP/1.1 200 OK\r\nX-A: 1\r\n"])
def test_a_receiver_that_drips_is_given_up_in_time(receive, monkeypatch, drip):
    monkeypatch.setattr(sender, "ANSWER_SECONDS", 0.6)

    def behave(receiver, connection):
        connection.sendall(drip)
        while not receiver.wait(0.05):
            connection.sendall(b"X-Drip: 1\r\n" if drip.endswith(b"\n") else b"")

    receiver = receive(behave)
    began = time.monotonic()

    receipt = send(f"http://127.0.0.1:{receiver.port}/")

    assert receipt.problem == "no answer within 0.6 s"
    assert receipt.is_receiver_down
    # The drops go on until the test is over.
    assert time.monotonic() - began < 10.0


def test_an_answer_without_end_is_read_for_a_moment_only(receive):
    sent = []

    def behave(receiver, connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while not receiver.wait(0):
            connection.sendall(b"x" * 65536)
            sent.append(65536)

    receiver = receive(behave)
    began = time.monotonic()

    assert send(f"http://127.0.0.1:{receiver.port}/").problem is None
    assert time.monotonic() - began < sender.ANSWER_SECONDS
    # What the sockets' buffers take is not read by us.
    assert sum(sent) < 16_000_000


def test_a_body_that_drips_after_its_head_has_arrived(receive):
    def behave(receiver, connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not receiver.wait(0.1):
            connection.sendall(b"x")

    receiver = receive(behave)
    began = time.monotonic()

    assert send(f"http://127.0.0.1:{receiver.port}/").problem is None
    # All of it would take a hundred seconds.
    assert time.monotonic() - began < sender.ANSWER_SECONDS


def test_a_head_without_end_is_refused(receive):
    def behave(receiver, connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while not receiver.wait(0):
            connection.sendall(b"X-Long: " + b"x" * 4096 + b"\r\n")

    receipt = send(f"http://127.0.0.1:{receive(behave).port}/")

    assert receipt.problem is not None


@pytest.mark.parametrize("data", [b"", b"\0\1\2 what\r\n\r\n", b"HTTP/1.1 200"])
def test_nonsense_is_a_failure(receive, data):
    receipt = send(f"http://127.0.0.1:{receive(answer(data)).port}/")

    assert "RemoteProtocolError" in receipt.problem


def test_a_closed_port_is_a_receiver_that_is_down(closed_port):
    receipt = send(f"http://127.0.0.1:{closed_port}/")

    assert receipt.is_receiver_down
    assert not receipt.is_final


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "LOCALHOST", "[::ffff:127.0.0.1]", "2130706433", "127.1"]
)
def test_this_machine_is_refused_by_every_name(receive, host):
    receiver = receive()

    receipt = send(f"http://{host}:{receiver.port}/", allow_private=False)

    assert "NIGHTSHIFT_WEBHOOK_ALLOW_PRIVATE=1" in receipt.problem
    assert receiver.requests == []


def test_a_name_is_looked_up_once_and_that_address_is_connected_to(receive, monkeypatch):
    looked_up = []
    look_up = socket.getaddrinfo

    def getaddrinfo(host, *args, **options):
        looked_up.append(host)
        # At the second look the name would have changed its mind.
        return look_up("127.0.0.1" if len(looked_up) == 1 else "127.0.0.2", *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    receiver = receive()

    assert send(f"http://receiver.example:{receiver.port}/").problem is None
    assert looked_up == ["receiver.example"]
    assert f"Host: receiver.example:{receiver.port}\r\n".encode() in receiver.requests[0]


@pytest.mark.parametrize(("name", "is_right"), [("receiver.example", True), ("other.name", False)])
def test_the_certificate_must_be_of_the_name_and_not_of_the_address(
    receive, monkeypatch, tmp_path, name, is_right
):
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=nightshift -addext"
    extension = "subjectAltName=DNS:receiver.example"
    try:
        subprocess.run(
            [*command.split(), extension, "-out", certificate, "-keyout", key],
            check=True,
            capture_output=True,
        )
    except FileNotFoundError:
        pytest.skip("no openssl to make a certificate with")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    receiver = receive(context=context)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    look_up = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *rest, **o: look_up("127.0.0.1", *rest, **o)
    )

    receipt = send(f"https://{name}:{receiver.port}/")

    assert len(receiver.requests) == is_right
    assert is_right or "CERTIFICATE_VERIFY_FAILED" in receipt.problem


@pytest.mark.parametrize(
    "url", ["ftp://host/", "file:///etc/passwd", "host/x", "http://", "", "x" * 99]
)
def test_what_is_no_web_address_is_never_tried_again(url):
    assert send(url).is_final


@pytest.mark.parametrize("url", ["http://a..b/", "http://[::1", "http://h:99999/", "http://\0/"])
def test_an_odd_url_is_a_failure_like_others(url):
    assert send(url).problem is not None


def test_an_answer_is_judged_by_its_head():
    assert judge(201, {}).problem is None
    assert judge(410, {}).is_final
    assert not judge(404, {}).is_final
    assert judge(503, {}).is_receiver_down
    assert judge(429, {"Retry-After": "120"}).retry_after == 120
    assert judge(500, {"Retry-After": "soon"}).retry_after is None
    assert judge(500, {"Retry-After": "nan"}).retry_after is None
    assert judge(500, {"Retry-After": "1e99"}).retry_after == sender.MAX_RETRY_AFTER_SECONDS
    then = datetime.now(UTC) + timedelta(seconds=90)
    assert 80 < judge(503, {"Retry-After": format_datetime(then, usegmt=True)}).retry_after < 91


def test_without_a_secret_nothing_is_delivered():
    with pytest.raises(SettingsError, match="NIGHTSHIFT_WEBHOOK_SECRET is not set"):
        WebhookSettings.of({})
    with pytest.raises(SettingsError, match="NIGHTSHIFT_WEBHOOK_ALLOW_PRIVATE"):
        WebhookSettings.of(
            {"NIGHTSHIFT_WEBHOOK_SECRET": "x", "NIGHTSHIFT_WEBHOOK_ALLOW_PRIVATE": "maybe"}
        )


def test_the_secret_is_not_shown():
    settings = WebhookSettings.of({"NIGHTSHIFT_WEBHOOK_SECRET": "hush"})

    assert "hush" not in repr(settings)
    assert not settings.allow_private


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://user:pass@host.example/secret/path?token=x#y", "https://host.example"),
        ("http://host:8080/x", "http://host:8080"),
        ("http://[::1]:80/x", "http://[::1]"),
        ("http://[::1/?token=x", "an unreadable URL"),
    ],
)
def test_of_a_url_only_the_host_is_shown(url, text):
    assert shown(url) == text
