"""Vendors at their worst: garbage, hangs, halves, floods, false addresses; one line each."""

from __future__ import annotations

import json
import re
import time
from http.server import BaseHTTPRequestHandler

import pytest

from worker.browser.providers import exchange
from worker.browser.providers.preset_file import preset_names


def answer(request: BaseHTTPRequestHandler, content: bytes, status: int = 200, **headers) -> bool:
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    try:
        request.wfile.write(content)
    except OSError:
        pass
    return True


def garbage(verb: str, request: BaseHTTPRequestHandler) -> bool:
    return answer(request, bytes(range(256)) * 20)


def page(verb: str, request: BaseHTTPRequestHandler) -> bool:
    return answer(request, b"<html><h1>Sign in to the network</h1></html>")


def no_http(verb: str, request: BaseHTTPRequestHandler) -> bool:
    request.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
    return True


def flood(verb: str, request: BaseHTTPRequestHandler) -> bool:
    return answer(request, b'{"data": "' + b"x" * 10_000_000 + b'"}')


def depth(verb: str, request: BaseHTTPRequestHandler) -> bool:
    return answer(request, b"[" * 500_000)


def half(verb: str, request: BaseHTTPRequestHandler) -> bool:
    return answer(request, b'{"code": 0, "da', Content_Length="500")


def nothing(verb: str, request: BaseHTTPRequestHandler) -> bool:
    return True


def packed(verb: str, request: BaseHTTPRequestHandler) -> bool:
    return answer(request, b"\x1f\x8b\x08" + b"\0" * 1000, Content_Encoding="gzip")


def redirect(verb: str, request: BaseHTTPRequestHandler) -> bool:
    return answer(request, b"", 302, Location="http://elsewhere.example/steal?token=s3cr3t")


def bad_redirect(verb: str, request: BaseHTTPRequestHandler) -> bool:
    return answer(request, b"", 302, Location="http://[::1")


def hang(verb: str, request: BaseHTTPRequestHandler) -> bool:
    time.sleep(30)
    return True


def drip_headers(verb: str, request: BaseHTTPRequestHandler) -> bool:
    return drip(request, b"HTTP/1.1 200 OK\r\nX-Slow: ")


def drip_body(verb: str, request: BaseHTTPRequestHandler) -> bool:
    return drip(request, b"HTTP/1.1 200 OK\r\n\r\n")


def drip(request: BaseHTTPRequestHandler, begin: bytes) -> bool:
    try:
        request.wfile.write(begin)
        for _ in range(300):
            request.wfile.write(b"a")
            time.sleep(0.1)
    except OSError:
        pass
    return True


@pytest.mark.parametrize(
    ("hostile", "kind", "told"),
    [
        (garbage, "bad_answer", r"no JSON"),
        (page, "bad_answer", r"HTTP 200, but no JSON"),
        (no_http, "unreachable", r"RemoteProtocolError"),
        (flood, "bad_answer", r"no JSON"),
        (depth, "bad_answer", r"no JSON"),
        (half, "unreachable", r"RemoteProtocolError"),
        (nothing, "unreachable", r"RemoteProtocolError"),
        (packed, "bad_answer", r"no JSON"),
        (redirect, "refused", r"a redirect to http://elsewhere.example/… that is not followed"),
        (bad_redirect, "unreachable", r"RemoteProtocolError"),
        (hang, "unreachable", r"does not answer at http://127.0.0.1:\d+ \(ReadTimeout\)"),
        (drip_headers, "unreachable", r"\(ReadTimeout\)"),
        (drip_body, "unreachable", r"\(ReadTimeout\)"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.parametrize("name", ["gologin", "octo"])
def test_a_vendor_at_its_worst_is_one_line_and_no_hang(make_world, name, hostile, kind, told):
    world = make_world(name, bare=True)
    world.server.hostile = hostile
    began = time.monotonic()
    error = world.refusal(seconds=1.0)

    assert time.monotonic() - began < 6
    assert error.kind == kind
    assert re.search(told, str(error))
    assert "s3cr3t" not in str(error)


@pytest.mark.parametrize(
    ("endpoint", "told"),
    [
        ("ws://127.0.0.1:0/devtools/browser/x", "has the port 0"),
        ("ws://elsewhere.example:9222/devtools/t0k3n", "another host (ws://elsewhere.example:9222"),
        ("http://169.254.169.254:80/latest", "another host"),
        ("ws://127.0.0.1.elsewhere.example:1/x", "another host"),
        ("wss://me:pw@10.0.0.7/", "another host (wss://10.0.0.7)"),
        ("file:///etc/passwd", "is no address"),
        ("ws://127.0.0.1:99999/", "is no address"),
        ("no address at all", "is no address"),
    ],
)
def test_an_endpoint_that_cannot_be_the_profiles_is_not_connected_to(make_world, endpoint, told):
    world = make_world("gologin", bare=True)
    body = json.dumps({"wsUrl": endpoint}).encode()
    world.server.hostile = lambda verb, request: verb == "start" and answer(request, body)
    error = world.refusal()

    assert error.kind == "bad_answer"
    assert told in str(error)
    assert "t0k3n" not in str(error)
    assert world.provider._starts.may_run(error)


def test_a_clouds_own_hosts_are_connected_to(make_world):
    world = make_world("browserbase", bare=True)
    body = {"id": "s-1", "connectUrl": "wss://connect.usw2.browserbase.com/?signingKey=k3y"}
    content = json.dumps(body).encode()
    world.server.hostile = lambda verb, request: verb == "start" and answer(request, content)

    assert world.start() == body["connectUrl"]


@pytest.mark.parametrize("name", preset_names())
def test_an_answer_of_any_json_is_no_crash(make_world, name):
    world = make_world(name, bare=True)
    for content in (b"null", b"[]", b"0", b'"text"', b'{"data": [1, {"ws": []}]}', b"{}"):
        world.server.hostile = lambda verb, request, content=content: answer(request, content)
        assert world.refusal(seconds=2.0).kind in ("bad_answer", "refused")


def test_no_more_of_an_answer_is_read_than_could_be_meant(make_world, monkeypatch):
    monkeypatch.setattr(exchange, "MAX_BODY_BYTES", 100)
    world = make_world("gologin", bare=True)
    read = []
    monkeypatch.setattr(exchange.json, "loads", lambda text: read.append(len(text)))
    world.server.hostile = flood
    world.refusal(seconds=3.0)

    assert read[-1] == 100
