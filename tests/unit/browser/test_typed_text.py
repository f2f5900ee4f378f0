"""What was typed is read off a trace's own calls, also when it was typed key by key."""

from __future__ import annotations

from typing import Any

import pytest

from worker.browser.typed_text import TypedText, single_key


def call(method: str, **params: Any) -> dict[str, Any]:
    return {"type": "before", "method": method, "params": params}


def keys(*names: str) -> list[dict[str, Any]]:
    return [call("keyboardPress", key=name) for name in names]


@pytest.mark.parametrize(
    ("calls", "typed"),
    [
        ([call("fill", selector="#a", value="a horse")], ["a horse"]),
        ([call("type", text="a horse")], ["a horse", "a horse"]),
        ([call("accept", promptText="a horse")], ["a horse"]),
        ([call("accept")], []),
        ([call("fill", value="abc")], []),
        (keys(*"horse", "Enter", *"cow"), ["horse"]),
        (keys("Shift+h", *"orsx", "Backspace", "e"), ["Horse"]),
        ([*keys(*"ho"), call("keyboardInsertText", text="rses")], ["rses", "horses"]),
        ([call("type", selector="#a", text="cows"), call("focus", selector="#b"), *keys(*"horse")],
         ["cows", "cows", "horse"]),
        ([call("press", selector="#a", key=key) for key in "cows"]
         + [call("waitForTimeout")] + [call("press", selector="#b", key=key) for key in "horse"],
         ["cows", "horse"]),
        ([call("keyboardDown", key=key) for key in "horse"], ["horse"]),
        ([call("keyboardUp", key=key) for key in "horse"], []),
        ([call("goto", url="a horse"), {"type": "after"}, "text", None, call("press")], []),
    ],
)  # fmt: skip
def test_what_was_typed_is_found(calls, typed):
    text = TypedText()
    found = [each for event in calls for each in text.of_call(event)]

    assert [*found, *text.rest()] == typed


@pytest.mark.parametrize(
    ("key", "letter"),
    [("a", "a"), ("Shift+a", "A"), ("KeyA", "a"), ("Digit7", "7"), ("Space", " "), ("Enter", ""),
     ("Control+a", ""), ("F1", ""), (None, "")],
)  # fmt: skip
def test_a_key_is_a_letter_or_has_a_name(key, letter):
    assert single_key(key) == letter
