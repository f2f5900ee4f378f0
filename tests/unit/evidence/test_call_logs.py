"""What was typed is in no call log and in no line of a traceback."""

from __future__ import annotations

import pytest

from worker.evidence.call_logs import mask_typed
from worker.evidence.known_secrets import MASK


@pytest.mark.parametrize(
    "text",
    [
        'Call log:\n  - waiting for locator("#pw")\n  -   fill("hunter2")\n  - done',
        '  -   fill("a "quoted") hunter2")\n',
        '    - elementHandle.type("line\none) hunter2\nthree")\n  - next',
        '    page.locator("#pw").fill("hunter2")\n',
        "    page.fill('#pw', 'hunter2'); page.click('b')\n",
        'keyboard.insert_text("hunter2")',
        'press("h") press("hunter2")',
        '.press_sequentially("hunter2", delay=10)',
        'fill("hunter2',
    ],
)
def test_what_was_typed_is_masked(text):
    assert "hunter2" not in mask_typed(text)
    assert MASK in mask_typed(text)


@pytest.mark.parametrize(
    "text",
    ['press("Enter")', 'page.press("#a", "Control+ArrowLeft")', "type(value)", "fill(payload)",
     "refill('x')", "no call at all"],
)  # fmt: skip
def test_named_keys_and_other_calls_stay(text):
    assert mask_typed(text) == text


def test_what_stands_around_is_kept():
    text = 'Call log:\n  - waiting for locator("#pw")\n  -   fill("hunter2")\n  - done'

    assert mask_typed(text).splitlines() == [
        "Call log:", '  - waiting for locator("#pw")', f"  -   fill({MASK})", "  - done",
    ]  # fmt: skip
