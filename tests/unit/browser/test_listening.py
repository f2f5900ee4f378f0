"""Listening: everybody hears every event, through one handler."""

from __future__ import annotations

import inspect

from worker.browser.listening import listen, listen_once


class Target:
    """Says what it is told to, as Playwright's objects do."""

    def __init__(self) -> None:
        self.handlers: dict[str, list] = {}

    def on(self, event, handler):
        self.handlers.setdefault(event, []).append(handler)

    def once(self, event, handler):
        self.handlers.setdefault(event, []).append(handler)

    def say(self, event, *arguments):
        for handler in self.handlers[event]:
            handler(*arguments)


def test_all_who_listen_are_told_in_order_by_one_handler():
    target, heard = Target(), []
    listen(target, "request", lambda request: heard.append(("first", request)))
    listen(target, "request", lambda request: heard.append(("second", request)))
    listen(target, "response", lambda response: heard.append(("third", response)))

    target.say("request", "a")
    target.say("response", "b")

    assert heard == [("first", "a"), ("second", "a"), ("third", "b")]
    assert [len(handlers) for handlers in target.handlers.values()] == [1, 1]


def test_one_target_does_not_hear_of_another():
    one, other, heard = Target(), Target(), []
    listen(one, "request", heard.append)
    listen(other, "request", lambda request: None)

    other.say("request", "a")

    assert heard == []


def test_every_handler_carries_its_signature_so_that_playwright_need_not_look_for_it():
    target, heard = Target(), []
    listen(target, "request", heard.append)
    listen_once(target, "response", lambda: heard.append("answered"))

    target.say("response", "b")

    assert heard == ["answered"]
    for (handler,) in target.handlers.values():
        assert handler.__signature__ == inspect.signature(lambda *arguments: None)
