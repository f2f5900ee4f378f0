"""Keys and mouse buttons that a task holds down on its page, let go before the next job."""

from __future__ import annotations

import functools
from typing import Any

from playwright.sync_api import Page


class InputState:
    """What is held down on one page by `page.keyboard` and `page.mouse`."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._keys: set[str] = set()
        self._buttons: set[str] = set()
        self._has_mouse_moved = False
        self._note(page.keyboard, "down", self._keys.add)
        self._note(page.keyboard, "up", self._keys.discard)
        self._note(page.mouse, "down", lambda *_, button="left", **__: self._buttons.add(button))
        self._note(page.mouse, "up", lambda *_, button="left", **__: self._buttons.discard(button))
        for name in ("move", "click", "dblclick"):
            self._note(page.mouse, name, self._note_move)

    def let_go(self) -> None:
        """Have nothing held down, and the mouse off the page; raises Playwright's Error."""
        for key in list(self._keys):
            self._page.keyboard.up(key)
        for button in list(self._buttons):
            self._page.mouse.up(button=button)  # type: ignore[arg-type]
        if self._has_mouse_moved:
            self._page.mouse.move(-1, -1)
            self._has_mouse_moved = False

    def _note(self, target: Any, name: str, note: Any) -> None:
        original = getattr(target, name)

        @functools.wraps(original)
        def call(*arguments: Any, **options: Any) -> Any:
            note(*arguments, **options)
            return original(*arguments, **options)

        setattr(target, name, call)

    def _note_move(self, *_: Any, **__: Any) -> None:
        self._has_mouse_moved = True
