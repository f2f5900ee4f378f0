"""A page whose task has exposed a binding speaks to the driver as a browser would: in vain."""

from __future__ import annotations

import json

import pytest

# The driver reads what a page gives to a binding as JSON.
SPEAKING = """words => {
    const call = { name: 'told', seq: 1, serializedArgs: [] }
    for (const word of words) __playwright__binding__(JSON.stringify({ ...call, ...word }))
}"""
METHODS = (
    "Target.attachedToTarget",
    "Target.detachedFromTarget",
    "Target.detachFromTarget",
    "Emulation.setUserAgentOverride",
    "Emulation.setLocaleOverride",
    "Runtime.runIfWaitingForDebugger",
)
PARAMS = (
    {},
    {"params": None},
    {"params": "text"},
    {"params": {"targetInfo": None, "sessionId": 1, "locale": 5, "userAgentMetadata": {}}},
    {"params": {"sessionId": "x", "targetInfo": {"type": "shared_worker"}, "userAgent": 1}},
)


@pytest.mark.parametrize("method", METHODS)
def test_no_message_of_a_page_breaks_the_driver(session, method):
    page = session.page_for_job()
    page.expose_binding("told", lambda *_: None)
    page.goto("data:text/html,<title>forging</title>")
    words = [{"method": method, **params} for params in PARAMS]

    page.evaluate(SPEAKING, words)

    assert page.title() == "forging"
    assert json.loads(page.evaluate("JSON.stringify([1])")) == [1]
    session.release(clean=False)


@pytest.mark.parametrize("said", ["x", "null", "", "5", "[]", '{"name": null}', "x" * 1_000_000])
def test_nor_does_what_is_no_message_at_all(session, said):
    page = session.page_for_job()
    page.expose_function("grab", lambda: "grabbed")
    page.goto("data:text/html,<title>forging</title>")

    page.evaluate("said => __playwright__binding__(said)", said)

    assert page.title() == "forging"
    assert page.evaluate("grab()") == "grabbed"
    session.release(clean=False)
