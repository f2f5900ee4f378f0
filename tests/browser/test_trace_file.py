"""A trace is kept without its secrets, and Playwright's own viewer still opens it."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from worker.browser import trace_file
from worker.browser.trace_masking import mask_line
from worker.evidence import known_secrets

LOGIN = """<title>Log in</title><form method=post action=/>
    <input id=a name=field1><input id=b type=password name=field2><button>Go</button></form>"""


@pytest.fixture
def raw(session, site, tmp_path) -> Path:
    """A trace of a log-in whose field names give nothing away."""
    known_secrets.begin(None)
    page = session.page_for_job(trace=True)
    page.goto(site.url("/"))
    page.set_content(LOGIN)
    page.fill("#a", "me-myself")
    page.fill("#b", "typed-hunter2")
    page.evaluate("fetch('/', {headers: {authorization: 'Basic aHVudGVyMg=='}})")
    page.wait_for_timeout(200)
    session.tab.stop_trace(tmp_path / "raw.zip")
    return tmp_path / "raw.zip"


FORM = """<form method=post action=/>{fields}
    <input id=code autocomplete=one-time-code value=site-otp></form>
    <button onclick="said.textContent = prompt('who?')">Ask</button><p id=said></p>"""
FIELDS = ("filled", "typed", "pressed", "inserted", "short")


@pytest.fixture
def typed(session, site, tmp_path) -> Path:
    """A trace in which something is typed in every way, into fields that are no passwords."""
    known_secrets.begin(None)
    page = session.page_for_job(trace=True)
    page.goto(site.url("/"))
    page.set_content(FORM.format(fields="".join(f"<input id={n} name={n}>" for n in FIELDS)))
    page.fill("#filled", "Core-of/fill ä")
    page.locator("#typed").press_sequentially("Core-of-type")
    page.focus("#pressed")
    for letter in "Core-of-keys":
        page.keyboard.press(letter)
    page.focus("#inserted")
    page.keyboard.insert_text("Core-of-insert")
    page.fill("#short", "Cor")
    page.once("dialog", lambda dialog: dialog.accept("Core-of-dialog"))
    page.click("button")
    page.evaluate("""() => fetch('/', {method: 'POST', headers: {'X-Session': 'Core-of-header'},
        body: '<Login><Password>Core-of-xml</Password></Login>'})""")
    page.evaluate("fetch('/?d=' + encodeURIComponent(JSON.stringify({password: 'Core-of-json'})))")
    page.evaluate("document.forms[0].submit()")
    page.wait_for_load_state()
    page.wait_for_timeout(200)
    session.tab.stop_trace(tmp_path / "raw.zip")
    return tmp_path / "raw.zip"


def test_what_was_typed_is_nowhere_in_a_trace(typed, tmp_path):
    trace_file.keep_masked(typed, tmp_path / "trace.zip")

    after = contents(tmp_path / "trace.zip")
    found = {
        (name, content[place - 60 : place + 30])
        for name, content in after.items()
        for word in (b"Core", b"site-otp")
        if (place := content.find(word)) >= 0
    }
    assert found == set()
    assert b'"Cor"' not in after["trace.trace"]
    # Elsewhere it may be any word.
    assert known_secrets.mask("Core-of-type") == "Core-of-type"


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_trace_loses_its_secrets_and_keeps_its_shape(raw, tmp_path):
    before = contents(raw)
    trace_file.keep_masked(raw, tmp_path / "trace.zip")

    after = contents(tmp_path / "trace.zip")
    assert list(after) == list(before)
    for secret in (b"typed-hunter2", b"aHVudGVyMg==", b"topsecret"):
        assert any(secret in content for content in before.values()), secret
        assert not [name for name, content in after.items() if secret in content], secret
    for name in ("trace.trace", "trace.network"):
        events = [json.loads(line) for line in after[name].splitlines()]
        assert [event["type"] for event in events] == [
            json.loads(line)["type"] for line in before[name].splitlines()
        ]
    assert not raw.exists()


def test_playwrights_own_viewer_opens_a_masked_trace(raw, tmp_path):
    trace_file.keep_masked(raw, tmp_path / "trace.zip")
    program = [sys.executable, "-m", "playwright", "trace"]

    def ask(*arguments: str) -> str:
        done = subprocess.run(
            [*program, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert "Pages:        1" in ask("open", "trace.zip")
    assert 'Fill "[redacted]"' in ask("actions")
    assert "GET      200" in ask("requests")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("resources/a.json", b'{"password": "hunter2"}'),
        ("resources/a.dat", b"user=me&pw=hunter2"),
        ("resources/a.html", b'<input type=password value="hunter2">'),
        ("resources/a.txt", "a white horse".encode("utf-16")),
        ("resources/a.txt", b"caf\xe9 token=hunter2"),
        ("resources/a.bin", b"\x00\x01\x02\x03\x04\xff a white horse \x00\x01\x02"),
        ("trace.trace", b'{"type":"log","message":"  fill(\\"hunter2\\")"}\n'),
        (
            "trace.trace",
            b'{"type":"before","method":"press","params":{"key":"h","text":"hunter2"}}',
        ),
        ("trace.network", b'{"a":{"name":"Cookie","value":"x=hunter2"}}\nnot JSON hunter2\n'),
        ("trace.network", b'{"cookies":[{"name":"theme","value":"hunter2"}]}'),
    ],
)
def test_a_secret_in_a_member_is_masked(tmp_path, name, content):
    known_secrets.begin({"password": "a white horse"})
    with zipfile.ZipFile(tmp_path / "raw.zip", "w") as archive:
        archive.writestr(name, content)
    trace_file.keep_masked(tmp_path / "raw.zip", tmp_path / "trace.zip")

    (masked,) = contents(tmp_path / "trace.zip").values()
    text = masked.decode("utf-16") if content.startswith(b"\xff\xfe") else masked.decode("latin-1")
    assert "hunter2" not in text
    assert "horse" not in text
    assert text.strip()


@pytest.mark.parametrize(
    ("setting", "value", "complaint"),
    [("MAX_BYTES", 10, "too much to mask"), ("MAX_SECONDS", -1.0, "too long to mask")],
)
def test_a_trace_that_cannot_be_masked_in_time_is_dropped(
    tmp_path, monkeypatch, setting, value, complaint
):
    monkeypatch.setattr(trace_file, setting, value)
    with zipfile.ZipFile(tmp_path / "raw.zip", "w") as archive:
        archive.writestr("trace.trace", '{"type":"a"}\n' * 10)
    with pytest.raises(OSError, match=complaint):
        trace_file.keep_masked(tmp_path / "raw.zip", tmp_path / "t.zip", trace_file.MAX_SECONDS)

    assert list(tmp_path.iterdir()) == []


def test_a_broken_trace_is_dropped(tmp_path):
    (tmp_path / "raw.zip").write_bytes(b"PK\x03\x04 cut short")
    with pytest.raises(OSError, match="cut short"):
        trace_file.keep_masked(tmp_path / "raw.zip", tmp_path / "trace.zip")

    assert list(tmp_path.iterdir()) == []


def test_named_keys_and_hashes_stay():
    line = (
        b'{"type":"before","method":"press","params":{"key":"Enter","selector":"#a"},"sha1":"ab"}'
    )

    assert json.loads(mask_line(line)) == json.loads(line)
