"""What a trace itself says was typed: by `fill`, by `type`, key by key, or into a dialog.

Single keys are put together to the text that they make. What is shorter than four characters may
be any word, and is not looked for elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# The argument that holds the text, by the name of the call.
TEXT_OF_CALL = {
    "fill": "value",
    "type": "text",
    "insertText": "text",
    "keyboardType": "text",
    "keyboardInsertText": "text",
    "accept": "promptText",
}
# `keyboardUp` names a key that went down before.
PRESSES = frozenset({"press", "keyboardPress", "keyboardDown"})
KEYS = PRESSES | {"keyboardUp"}
# After these, what is typed goes into another field. Waiting and looking change nothing.
LEAVES = frozenset(
    {
        "focus", "blur", "click", "dblclick", "tap", "check", "selectOption", "mouseClick",
        "mouseDown", "touchscreenTap", "goto", "reload", "goBack", "goForward", "setContent",
    }
)  # fmt: skip
MIN_LENGTH = 4


class TypedText:
    """Reads the calls of a trace in their order."""

    def __init__(self) -> None:
        self._keys = ""
        self._field: str | None = None

    def of_call(self, event: Any) -> Iterator[str]:
        """Give what a call has typed; of single keys, the text that has come to its end."""
        params = event.get("params") if isinstance(event, dict) else None
        if not isinstance(params, dict):
            return
        method = str(event.get("method"))
        field = params.get("selector")
        if method in LEAVES or (field and field != self._field):
            yield from self.rest()
            self._field = field
        if method in PRESSES:
            yield from self._press(str(params.get("key") or ""))
        elif method in TEXT_OF_CALL:
            text = str(params.get(TEXT_OF_CALL[method]) or "")
            yield from _long_enough(text)
            if method in ("fill", "accept"):
                yield from self.rest()
            else:
                # Typed after single keys, it goes on where they ended.
                self._keys += text

    def rest(self) -> Iterator[str]:
        """Give the text whose end has not been seen."""
        keys, self._keys = self._keys, ""
        yield from _long_enough(keys)

    def _press(self, key: str) -> Iterator[str]:
        if letter := single_key(key):
            self._keys += letter
        elif key == "Backspace":
            self._keys = self._keys[:-1]
        elif key not in ("Shift", "CapsLock"):
            yield from self.rest()


def single_key(key: Any) -> str:
    """The character that a key writes; nothing for a key with a name, such as Enter."""
    text = str(key or "")
    is_shifted, text = text.startswith("Shift+"), text.removeprefix("Shift+")
    if len(text) in (4, 6) and text[:-1] in ("Key", "Digit"):
        # The keyboard's own name of a key: KeyA, Digit1.
        text = text[-1].lower()
    if is_shifted and len(text) == 1:
        return text.upper()
    text = " " if text == "Space" else text
    return text if len(text) == 1 else ""


def _long_enough(text: str) -> Iterator[str]:
    if len(text.strip()) >= MIN_LENGTH:
        yield text
