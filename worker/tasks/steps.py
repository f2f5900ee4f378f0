"""The built-in task `steps`: a declared list of actions, for people who do not write Python.

Example: {"steps": [{"goto": "https://example.com/login"}, {"fill": {"#user": "me"}},
                    {"click": "text=Log in"}, {"expect": "h1 >> text=Welcome"},
                    {"extract": {"balance": ".balance"}}]}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worker.errors import Fail, PayloadError
from worker.tasks import params
from worker.tasks.extract import Field, take
from worker.tasks.job import Job
from worker.tasks.opening import open_page
from worker.tasks.registry import task

if TYPE_CHECKING:
    from playwright.sync_api import Page

Action = Callable[["Page", Any, Job], dict[str, Any] | None]


@dataclass(frozen=True)
class StepsPayload:
    """What `steps` needs: a list of objects with one action each."""

    steps: list[dict[str, Any]]


@task("steps")
def steps(page: Page, payload: StepsPayload, job: Job) -> dict[str, Any]:
    """Do the steps in order; the result is all that was extracted, and the final URL."""
    for number, step in enumerate(payload.steps, 1):
        _check(number, step)
    found: dict[str, Any] = {}
    for number, step in enumerate(payload.steps, 1):
        ((name, argument),) = step.items()
        found.update(ACTIONS[name](page, argument, job) or {})
        job.step(f"step {number} of {len(payload.steps)}: {name}")
    return {**found, "url": page.url}


def _check(number: int, step: dict[str, Any]) -> None:
    known = ", ".join(ACTIONS)
    if len(step) != 1:
        raise PayloadError(f"payload.steps[{number - 1}]: give one action each, of {known}")
    (name,) = step
    if name not in ACTIONS:
        raise PayloadError(f"payload.steps[{number - 1}]: unknown action {name!r}; known: {known}")


def _goto(page: Page, url: Any, job: Job) -> None:
    open_page(page, _text(url, "goto"), job)


def _click(page: Page, selector: Any, job: Job) -> None:
    page.locator(_text(selector, "click")).first.click()


def _fill(page: Page, values: Any, job: Job) -> None:
    for selector, value in _pairs(values, "fill"):
        page.locator(selector).first.fill(str(value))


def _select(page: Page, values: Any, job: Job) -> None:
    for selector, value in _pairs(values, "select"):
        page.locator(selector).first.select_option(str(value))


def _wait(page: Page, what: Any, job: Job) -> None:
    if isinstance(what, int | float) and not isinstance(what, bool):
        page.wait_for_timeout(what * 1000)
    else:
        page.locator(_text(what, "wait")).first.wait_for()


def _expect(page: Page, selector: Any, job: Job) -> None:
    if not page.locator(_text(selector, "expect")).first.is_visible():
        raise Fail(f"expected {selector} on {page.url}, and it is not there")


def _extract(page: Page, fields: Any, job: Job) -> dict[str, Any]:
    return {
        name: take(page, name, field if isinstance(field, str) else params.fit(field, Field))
        for name, field in _pairs(fields, "extract")
    }


def _text(value: Any, action: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise PayloadError(f"{action} needs a text, got {value!r}")
    return value


def _pairs(value: Any, action: str) -> list[tuple[str, Any]]:
    if not isinstance(value, dict) or not value:
        raise PayloadError(f'{action} needs an object such as {{"#selector": "value"}}')
    return list(value.items())


ACTIONS: dict[str, Action] = {
    "goto": _goto,
    "click": _click,
    "fill": _fill,
    "select": _select,
    "wait": _wait,
    "expect": _expect,
    "extract": _extract,
}
