"""The built-in task `steps`: a declared list of actions, for people who do not write Python.

Example: {"steps": [{"goto": "https://example.com/login"}, {"fill": {"#user": "me"}},
                    {"click": "text=Log in"}, {"expect": "h1 >> text=Welcome"},
                    {"fill": {"#password": {"secret": "SHOP_PASSWORD"}}},
                    {"extract": {"balance": ".balance"}}]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worker.errors import Fail, PayloadError
from worker.secret_references import is_reference
from worker.tasks import params
from worker.tasks.extract import Field, take_all
from worker.tasks.job import Job
from worker.tasks.opening import open_page
from worker.tasks.patience import WANTED_SECONDS, Patience, checked_timeout
from worker.tasks.registry import naming_secrets, task

if TYPE_CHECKING:
    from worker.page_types import Page

Action = Callable[["Page", Any, Job], dict[str, Any] | None]


@dataclass(frozen=True)
class StepsPayload:
    """What `steps` needs: a list of objects with one action each."""

    steps: list[dict[str, Any]]


@dataclass(frozen=True)
class Expected:
    """What `expect` looks for, and for how many seconds."""

    selector: str
    timeout: float = WANTED_SECONDS


def _secrets_of(payload: StepsPayload) -> Iterator[str]:
    filled = [step["fill"] for step in payload.steps if isinstance(step.get("fill"), dict)]
    for value in (value for values in filled for value in values.values()):
        if is_reference(value):
            yield value["secret"]


@naming_secrets(_secrets_of)
@task("steps")
def steps(page: Page, payload: StepsPayload, job: Job) -> dict[str, Any]:
    """Do the steps in order; the result is all that was extracted, and the final URL."""
    for number, step in enumerate(payload.steps, 1):
        _check(number, step, job)
    found: dict[str, Any] = {}
    for number, step in enumerate(payload.steps, 1):
        ((name, argument),) = step.items()
        found.update(ACTIONS[name](page, argument, job) or {})
        job.step(f"step {number} of {len(payload.steps)}: {name}")
    return {**found, "url": page.url}


def _check(number: int, step: dict[str, Any], job: Job) -> None:
    known = ", ".join(ACTIONS)
    if len(step) != 1:
        raise PayloadError(f"payload.steps[{number - 1}]: give one action each, of {known}")
    (name,) = step
    if name not in ACTIONS:
        raise PayloadError(f"payload.steps[{number - 1}]: unknown action {name!r}; known: {known}")
    if name == "wait" and _is_number(step[name]) and not 0 <= step[name] <= job.seconds_left:
        # A browser takes what is too long for it as no time at all.
        raise PayloadError(
            f"payload.steps[{number - 1}]: wait {step[name]:g} is not possible; the job has "
            f"{job.seconds_left:.0f} s in all"
        )
    if name == "fill":
        for _, value in _pairs(step[name], name):
            # A secret that is missing ends the job before it has done anything.
            _filled_in(value, job)


def _goto(page: Page, url: Any, job: Job) -> None:
    open_page(page, _text(url, "goto"), job)


def _click(page: Page, selector: Any, job: Job) -> None:
    page.locator(_text(selector, "click")).first.click()


def _fill(page: Page, values: Any, job: Job) -> None:
    for selector, value in _pairs(values, "fill"):
        page.locator(selector).first.fill(_filled_in(value, job))


def _filled_in(value: Any, job: Job) -> str:
    """Say what to fill in: the value itself, or the secret that it names."""
    if is_reference(value):
        return job.secret(value["secret"])
    if isinstance(value, dict | list):
        raise PayloadError('fill needs a text, or {"secret": "NAME"} for a secret')
    return str(value)


def _select(page: Page, values: Any, job: Job) -> None:
    for selector, value in _pairs(values, "select"):
        page.locator(selector).first.select_option(str(value))


def _wait(page: Page, what: Any, job: Job) -> None:
    if _is_number(what):
        page.wait_for_timeout(what * 1000)
    else:
        page.locator(_text(what, "wait")).first.wait_for()


def _expect(page: Page, what: Any, job: Job) -> None:
    selector, seconds = what, WANTED_SECONDS
    if isinstance(what, dict):
        wanted = params.fit(what, Expected)
        selector, seconds = wanted.selector, checked_timeout(wanted.timeout, "expect")
    found = page.locator(_text(selector, "expect")).first
    if not Patience(job).wait_for(found, seconds, visible=True):
        raise Fail(f"expected {selector} on {page.url}, and it is not there")


def _extract(page: Page, fields: Any, job: Job) -> dict[str, Any]:
    wanted = {
        name: field if isinstance(field, str) else params.fit(field, Field)
        for name, field in _pairs(fields, "extract")
    }
    return take_all(page, wanted, job)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


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
