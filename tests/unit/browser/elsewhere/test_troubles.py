"""What Playwright says of a failed connect becomes one line: a remedy, and no address."""

from __future__ import annotations

import pytest

from worker.browser.elsewhere.troubles import explain, own_version

LOG = "\nCall log:\n  - <ws connecting> wss://host.test/secret-path\n"
MISMATCH = (
    "BrowserType.connect: WebSocket error: ws://host.test/secret-path 428 Precondition Required\n"
    "╔═════════════════════╗\n║ Playwright version mismatch: ║\n"
    "║   - server version: v1.40 ║\n║   - client version: v1.65 ║\n╚══════╝"
)


@pytest.mark.parametrize(
    ("message", "words", "is_lasting"),
    [
        (MISMATCH, "it runs Playwright 1.40", True),
        ("BrowserType.connect: WebSocket error: ws://h/x 429 Too Many\nbusy", "full", False),
        ("BrowserType.connect: WebSocket error: ws://h/x 503 Away", "HTTP 503", False),
        ("BrowserType.connect: WebSocket error: ws://h/x 502 Bad Gateway", "HTTP 502", False),
        ("BrowserType.connect: WebSocket error: ws://h/x 401 No", "refuses our login", True),
        ("BrowserType.connect: WebSocket error: ws://h/x 404 No", "no browser at its path", True),
        ("BrowserType.connect_over_cdp: Unexpected status 403 when", "refuses our login", True),
        ("BrowserType.connect: WebSocket error: connect ECONNREFUSED 1.2.3.4:1", "runs", False),
        ("BrowserType.connect: getaddrinfo ENOTFOUND host.test", "name is not known", False),
        ("BrowserType.connect: self-signed certificate", "NODE_EXTRA_CA_CERTS", True),
        ("BrowserType.connect_over_cdp: socket hang up", "wss://", False),
        ("BrowserType.connect: Executable doesn't exist at /x", "npx playwright install", True),
        ("Timeout 1000ms exceeded.", "in time", False),
    ],
)
def test_each_trouble_has_its_line(message, words, is_lasting):
    failed = explain(message + LOG, "cdp")

    assert words in str(failed)
    assert failed.is_lasting is is_lasting
    assert "secret-path" not in str(failed)
    assert "\n" not in str(failed)


def test_a_mismatch_names_both_versions_and_what_to_do():
    said = str(explain(MISMATCH, "playwright"))

    assert f"this is {own_version()}" in said
    assert "pip install 'playwright==1.40.*'" in said


def test_what_speaks_otherwise_is_told_with_the_prefix():
    said = "BrowserType.connect_over_cdp: Protocol error (Browser.getVersion): undefined"

    assert "write playwright+ before its address" in str(explain(said, "cdp"))
    assert "write cdp+" in str(explain("Malformed endpoint. Did you use", "playwright"))
