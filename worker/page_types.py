"""The types of what a task is given of its page, for type checkers: Playwright is not loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

__all__ = ["Locator", "Page"]
