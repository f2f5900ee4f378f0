"""What a job's browser context is wished to be: by its run, by its task, and by the job itself.

The nearer one wins, option by option. A device stands for the options that it consists of, a
secret's name for the secret, and a file for the storage state in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worker import block_patterns
from worker.block_patterns import tidied
from worker.context_fields import Level, problem_in
from worker.errors import Fail
from worker.evidence.known_secrets import values_under_secret_names
from worker.project import project_dir
from worker.secret_references import is_reference
from worker.tasks import devices, named_secrets

MAX_STATE_BYTES = 10_000_000
# A shorter cookie may be any word.
SHORTEST_COOKIE = 8
# What goes when a nearer level says the one before the colon: a screen belongs to its viewport.
_DISPLACES = {
    "viewport": ("screen", "no_viewport"),
    "no_viewport": ("viewport", "screen", "device_scale_factor", "is_mobile"),
    "device": (
        *("user_agent", "viewport", "screen", "device_scale_factor", "is_mobile", "has_touch"),
        "no_viewport",
    ),
}


@dataclass(frozen=True, slots=True)
class Declared:
    """What one of the three says, checked; with `block` None it says nothing of that."""

    context: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)
    block: tuple[str, ...] | None = None

    @property
    def is_steady(self) -> bool:
        """Whether it means the same at every job: it names no secret and no file."""
        return not any(_is_read(*each) for each in self.context.items())

    def __bool__(self) -> bool:
        return bool(self.context) or self.block is not None


NOTHING = Declared()


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a context is made with, beside its way out; jobs of equal wishes may share one."""

    # As JSON, so that equal ones are equal texts; it may hold secrets.
    text: str = field(default="{}", repr=False)
    block: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """Options in the words of `Browser.new_context`."""
        found: dict[str, Any] = json.loads(self.text)
        return found

    @property
    def can_be_emptied(self) -> bool:
        """Whether a page that was emptied after a job is what the next such job wishes for."""
        return '"storage_state"' not in self.text

    def secrets(self) -> Iterator[str]:
        """Everything in it that must be masked wherever it appears."""
        options = self.options
        yield from _secrets_of_state(options.pop("storage_state", {}))
        yield from values_under_secret_names(options)

    def __bool__(self) -> bool:
        return bool(self.block) or self.text != "{}"


NONE = Wishes()


def of_task(context: Any, block: Any) -> Declared:
    """Take what a task says; raises ValueError that names the option."""
    return _checked(context, block, Level.TASK)


def of_run(text: str | None, block: Iterable[str] = ()) -> Declared:
    """Read what a run says of all its jobs' contexts: JSON that was checked, and patterns."""
    return Declared(json.loads(text) if text else {}, tidied(block) or None)


def of_job(context: Any, block: Any) -> Declared:
    """Take what a payload says; raises ValueError that names the option."""
    return _checked(context, block, Level.JOB)


def _checked(context: Any, block: Any, level: Level) -> Declared:
    if context is not None and (problem := problem_in(context, level)):
        raise ValueError(f"context: {problem}")
    if block is not None and (problem := block_patterns.problem_in(block)):
        raise ValueError(f"block: {problem}")
    return Declared(dict(context or {}), None if block is None else tidied(block))


def merged(run: Declared, task: Declared, job: Declared) -> Wishes:
    """Put the three together; raises Fail for a secret or a file that is not there."""
    options: dict[str, Any] = {}
    for each in (run, task, job):
        displaced = _displaced(each.context)
        own = dict(each.context)
        if device := own.pop("device", None):
            # What one level says beside its device is meant of that device.
            own = devices.options_of(device) | own
        options = {k: v for k, v in options.items() if k not in displaced} | own
    for name in options:
        options[name] = _fetched(name, options[name])
    text = json.dumps(options, sort_keys=True) if options else "{}"
    return Wishes(text, blocked(run, task, job))


def blocked(run: Declared, task: Declared, job: Declared) -> tuple[str, ...]:
    """Say what is not loaded: what a task says replaces what its run does, a job adds to it."""
    patterns = run.block if task.block is None else task.block
    return tidied((*(patterns or ()), *(job.block or ())))


def _secrets_of_state(state: Mapping[str, Any]) -> Iterator[str]:
    for cookie in state.get("cookies") or ():
        value = str(cookie.get("value") or "") if isinstance(cookie, dict) else ""
        if len(value) >= SHORTEST_COOKIE:
            yield value
    # Pairs of name and value: those with a secret's name.
    yield from values_under_secret_names(state.get("origins") or ())


def _displaced(own: Mapping[str, Any]) -> set[str]:
    return {name for cause in own if own[cause] for name in _DISPLACES.get(cause, ())}


def _is_read(name: str, value: Any) -> bool:
    """Whether a value only names what is meant, in whole or in part."""
    if is_reference(value):
        return True
    if not isinstance(value, Mapping):
        return name == "storage_state"
    return any(map(is_reference, value.values()))


def _fetched(name: str, value: Any) -> Any:
    if name == "storage_state":
        return _state(value)
    if not _is_read(name, value):
        return value
    return {k: named_secrets.read(v["secret"]) if is_reference(v) else v for k, v in value.items()}


def _state(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping) and not is_reference(value):
        return dict(value)
    if is_reference(value):
        where, text = f"the secret {value['secret']}", named_secrets.read(value["secret"])
    else:
        path = project_dir() / value
        where, text = str(path), _file(path)
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not {"cookies", "origins"} >= found.keys():
        raise Fail(f"storage_state: {where} is not what context.storage_state() writes")
    return found


def _file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_STATE_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise Fail(f"storage_state: {path} cannot be read ({error.strerror})") from error
