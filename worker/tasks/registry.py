"""Which task does which job: the built-in ones and the user's own, found by name.

`@task` only marks a function; loading a file or module collects what is marked. There is no global
registry, so importing a task file has no effect on anything else.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, get_args

from worker.context_types import ContextOptions
from worker.errors import SettingsError, TaskNotFound
from worker.queue_names import as_compared
from worker.tasks import devices, params, wishes
from worker.tasks.job import Job
from worker.tasks.params import is_shape, shape_of
from worker.tasks.sources import import_source
from worker.tasks.wishes import NOTHING, Declared

if TYPE_CHECKING:
    from worker.page_types import Page

TaskFunction = Callable[["Page", Any, Job], Any]
Isolation = Literal["context", "page", "worker"]

# What a payload tells the pool, which no task has to declare: its environment, and its trace.
FOR_THE_POOL = frozenset({"manifest", "traceparent"})
_MARK = "__nightshift_task__"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,60}")
BUILT_IN = tuple(
    f"{__package__}.{name}" for name in ("visit", "extract", "screenshot", "pdf", "steps")
)


@dataclass(frozen=True, slots=True)
class Task:
    """A task function and how it wants to be run."""

    name: str
    function: TaskFunction
    timeout_seconds: float | None = None
    max_attempts: int | None = None
    isolation: Isolation = "context"
    browser: bool = True
    retry_on: tuple[type[BaseException], ...] = ()
    params: type | None = None
    retry_delay_seconds: float | None = None
    max_blocks: int | None = None
    schemes: tuple[str, ...] = ()
    downloads: bool = False
    guess_half_done: bool = True
    wishes: Declared = NOTHING
    # Which secrets a payload, in the task's shape, names for it to read.
    secrets_of: Callable[[Any], Iterable[str]] = lambda payload: ()

    def fit(self, payload: Mapping[str, Any]) -> Any:
        """Give a payload the task's declared shape; raises PayloadError that names the field."""
        if self.params is None:
            return payload
        return params.fit(payload, self.params, undeclared=FOR_THE_POOL)


def task(
    name: str,
    *,
    timeout: float | None = None,
    max_attempts: int | None = None,
    isolation: Isolation = "context",
    browser: bool = True,
    retry_on: type[BaseException] | tuple[type[BaseException], ...] = (),
    params: type | None = None,
    retry_delay: float | None = None,
    max_blocks: int | None = None,
    schemes: str | tuple[str, ...] = (),
    downloads: bool = False,
    guess_half_done: bool = True,
    context: ContextOptions | None = None,
    block: str | Sequence[str] | None = None,
) -> Callable[[TaskFunction], TaskFunction]:
    """Mark `fn(page, payload, job)` as the task of that name.

    `isolation` says what its jobs share in the browser, `browser=False` that it gets no page. What
    `retry_on` names is tried again like a timeout, the first time after `retry_delay`; after
    `max_blocks` blocks its job is an error. `params`, or the annotation of `payload`, is the
    dataclass or TypedDict that payloads must fit. Pages may also go to `schemes` and, with
    `downloads`, keep files. `guess_half_done=False`: no step's name says that a job is half done.
    `context` are options of its browser context; `block` names kinds of files, and hosts such as
    `*.ads.example`, that its pages do not load.
    """
    declared = Task(
        name=name, function=_undecided, timeout_seconds=timeout, max_attempts=max_attempts,
        isolation=isolation, browser=browser, max_blocks=max_blocks, params=params,
        retry_on=retry_on if isinstance(retry_on, tuple) else (retry_on,),
        retry_delay_seconds=retry_delay, downloads=downloads, guess_half_done=guess_half_done,
    )  # fmt: skip
    _check_declaration(declared)
    declared = replace(declared, schemes=_checked_schemes(name, schemes))
    return partial(_mark, declared, context, block)


def _undecided(page: Any, payload: Any, job: Job) -> None:
    """Stand for the function of a task that is declared, and not yet put on one."""


def _mark(
    declared: Task,
    context: ContextOptions | None,
    block: str | Sequence[str] | None,
    function: TaskFunction,
) -> TaskFunction:
    """Put a declaration on its function."""
    _check_function(declared.name, function)
    found = replace(
        declared,
        function=function,
        params=declared.params or shape_of(function),
        wishes=_wishes(f"task {declared.name} ({_place_of(function)})", context, block),
    )
    _check_page(found)
    setattr(function, _MARK, found)
    return function


def naming_secrets(secrets_of: Callable[[Any], Iterable[str]]) -> Callable[[Any], TaskFunction]:
    """Let a task say which secrets a payload names: without one of them its job cannot be done."""

    def mark(function: TaskFunction) -> TaskFunction:
        setattr(function, _MARK, replace(task_of(function), secrets_of=secrets_of))
        return function

    return mark


def _check_function(name: str, function: Callable[..., Any]) -> None:
    inner = inspect.unwrap(function)
    if inspect.iscoroutinefunction(inner) or inspect.isasyncgenfunction(inner):
        raise SettingsError(
            f"task {name} ({_place_of(function)}) is async def; write it as def: its page is "
            f"Playwright's synchronous one, without await"
        )


def _check_declaration(declared: Task) -> None:
    name, timeout, max_attempts = declared.name, declared.timeout_seconds, declared.max_attempts
    if not isinstance(name, str) or not 1 <= len(name) <= 64:
        raise SettingsError(f"@task needs a name of 1 to 64 characters, got {name!r}")
    if name != as_compared(name):
        raise SettingsError(f"@task: the name {name!r} ends with a blank; leave it out")
    if timeout is not None and timeout <= 0:
        raise SettingsError(f"task {name}: timeout={timeout!r}; give seconds above 0")
    if max_attempts is not None and max_attempts < 1:
        raise SettingsError(f"task {name}: max_attempts={max_attempts!r}; give 1 or more")
    if declared.isolation not in get_args(Isolation):
        raise SettingsError(
            f'task {name}: isolation={declared.isolation!r}; use "context", "page" or "worker"'
        )
    if (shape := declared.params) is not None and not is_shape(shape):
        raise SettingsError(f"task {name}: params={shape!r}; give a dataclass or a TypedDict")
    _check_patience(name, declared.retry_delay_seconds, declared.max_blocks)
    if not isinstance(guess := declared.guess_half_done, bool):
        raise SettingsError(f"task {name}: guess_half_done={guess!r}; give True or False")


def _check_patience(name: str, retry_delay: float | None, max_blocks: int | None) -> None:
    if retry_delay is not None and retry_delay < 0:
        raise SettingsError(f"task {name}: retry_delay={retry_delay!r}; give seconds, 0 or more")
    if max_blocks is not None and max_blocks < 1:
        raise SettingsError(f"task {name}: max_blocks={max_blocks!r}; give 1 or more")


def _wishes(
    who: str, context: ContextOptions | None, block: str | Sequence[str] | None
) -> Declared:
    try:
        return wishes.of_task(context, (block,) if isinstance(block, str) else block)
    except ValueError as problem:
        raise SettingsError(f"{who}: {problem}") from None


def _check_page(declared: Task) -> None:
    """Refuse what a task wishes of a page that it does not have, or that is emptied after jobs."""
    who = f"task {declared.name} ({_place(declared)})"
    if declared.wishes and not declared.browser:
        raise SettingsError(f"{who}: browser=False has no page; leave out context and block")
    if declared.isolation == "page" and "storage_state" in declared.wishes.context:
        raise SettingsError(
            f'{who}: isolation="page" empties its page between jobs, so it keeps no storage_state; '
            f'use "context" or "worker"'
        )


def _checked_schemes(name: str, given: str | tuple[str, ...]) -> tuple[str, ...]:
    schemes = (given,) if isinstance(given, str) else tuple(given)
    for scheme in schemes:
        if not isinstance(scheme, str) or not _SCHEME.fullmatch(scheme):
            raise SettingsError(
                f'task {name}: schemes={schemes!r}; give names without a colon, such as ("file",)'
            )
    return tuple(scheme.lower() for scheme in schemes)


def task_of(function: Callable[..., Any] | Task) -> Task:
    """Return the task that a function was marked as."""
    found = function if isinstance(function, Task) else getattr(function, _MARK, None)
    if not isinstance(found, Task):
        raise SettingsError(f'{function!r} is no task; mark it with @task("name")')
    return found


class Registry:
    """All tasks one worker can do."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks: Mapping[str, Task] = {item.name: item for item in tasks}

    @property
    def names(self) -> list[str]:
        return sorted(self._tasks)

    @property
    def without_browser(self) -> list[str]:
        """Name the tasks that get no page."""
        return sorted(task.name for task in self._tasks.values() if not task.browser)

    @property
    def caps(self) -> dict[str, int]:
        """How many attempts each task gives its jobs, of those that say so."""
        return {t.name: t.max_attempts for t in self._tasks.values() if t.max_attempts}

    def find(self, name: str) -> Task | None:
        """Return the task of that name, if it is loaded."""
        return self._tasks.get(as_compared(name))

    def get(self, name: str) -> Task:
        """Return the task of that name; raises TaskNotFound that lists the known ones."""
        found = self.find(name)
        if found is None:
            raise TaskNotFound(
                f"no task named {name!r} is loaded (known: {', '.join(self.names)}); "
                f"load its file with --tasks FILE, or correct the job's task"
            )
        return found


def load(sources: Iterable[str] = ()) -> Registry:
    """Load the built-in tasks and those of each source; two of one name are refused."""
    tasks = {item.name: item for name in BUILT_IN for item in _marked(import_module(name))}
    built_in = set(tasks)
    for source in sources:
        found = [item for module in import_source(source) for item in _marked(module)]
        if not found:
            raise SettingsError(
                f"--tasks {source}: no task in it; mark a function with "
                f'@task("name") from `from nightshift import task`'
            )
        for item in found:
            _check_device(source, item)
            other = tasks.setdefault(item.name, item)
            if other is not item and _place(other) != _place(item):
                raise _taken(source, item, other, is_built_in=item.name in built_in)
    return Registry(tasks.values())


def _check_device(source: str, item: Task) -> None:
    device = item.wishes.context.get("device")
    if device and (problem := devices.problem_of(device)):
        raise SettingsError(
            f"--tasks {source}: task {item.name} ({_place(item)}): context: {problem}"
        )


def _taken(source: str, item: Task, other: Task, *, is_built_in: bool) -> SettingsError:
    what = "is also the name of a built-in task" if is_built_in else "is a second task of that name"
    return SettingsError(
        f"--tasks {source}: task {item.name} ({_place(item)}) {what} ({_place(other)}); "
        f"give it another name"
    )


def _place(item: Task) -> str:
    return _place_of(item.function)


def _place_of(function: Callable[..., Any]) -> str:
    """Name the file and line of a function; what is none is named by itself."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)


def _marked(module: ModuleType) -> list[Task]:
    # Statically, because some objects (a web framework's proxies) raise whatever they are asked.
    found = [inspect.getattr_static(value, _MARK, None) for value in vars(module).values()]
    return [item for item in found if isinstance(item, Task)]
