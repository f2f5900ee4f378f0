"""Which task does which job: the built-in ones and the user's own, found by name.

`@task` only marks a function; loading a file or module collects what is marked. There is no global
registry, so importing a task file has no effect on anything else.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, get_args

from worker.errors import SettingsError, TaskNotFound
from worker.tasks import params
from worker.tasks.job import Job
from worker.tasks.params import is_shape, shape_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

TaskFunction = Callable[["Page", Any, Job], Any]
Isolation = Literal["context", "page", "worker"]

# What a payload tells the pool, which no task has to declare: its environment, and its trace.
FOR_THE_POOL = frozenset({"manifest", "traceparent"})
_MARK = "__nightshift_task__"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,60}")
BUILT_IN = tuple(
    f"worker.tasks.{name}" for name in ("visit", "extract", "screenshot", "pdf", "steps")
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
) -> Callable[[TaskFunction], TaskFunction]:
    """Mark `fn(page, payload, job)` as the task of that name.

    `isolation` says what its jobs share in the browser, `browser=False` that it gets no page. What
    `retry_on` names is tried again like a timeout, the first time after `retry_delay`; after
    `max_blocks` blocks its job is an error. `params`, or the annotation of `payload`, is the
    dataclass or TypedDict that payloads must fit. Pages may also go to `schemes` and, with
    `downloads`, keep files. `guess_half_done=False`: no step's name says that a job is half done.
    """
    _check_declaration(name, timeout, max_attempts, isolation, params)
    _check_patience(name, retry_delay, max_blocks)
    _check_guess(name, guess_half_done)
    allowed = _checked_schemes(name, schemes)

    def mark(function: TaskFunction) -> TaskFunction:
        retried = retry_on if isinstance(retry_on, tuple) else (retry_on,)
        declared = Task(
            name=name, function=function, timeout_seconds=timeout, max_attempts=max_attempts,
            isolation=isolation, browser=browser, retry_on=retried, max_blocks=max_blocks,
            params=params or shape_of(function), retry_delay_seconds=retry_delay,
            schemes=allowed, downloads=downloads, guess_half_done=guess_half_done,
        )  # fmt: skip
        setattr(function, _MARK, declared)
        return function

    return mark


def _check_guess(name: str, guess_half_done: object) -> None:
    if not isinstance(guess_half_done, bool):
        raise SettingsError(f"task {name}: guess_half_done={guess_half_done!r}; give True or False")


def _check_declaration(
    name: str,
    timeout: float | None,
    max_attempts: int | None,
    isolation: str,
    shape: type | None,
) -> None:
    if not isinstance(name, str) or not 1 <= len(name) <= 64:
        raise SettingsError(f"@task needs a name of 1 to 64 characters, got {name!r}")
    if timeout is not None and timeout <= 0:
        raise SettingsError(f"task {name}: timeout={timeout!r}; give seconds above 0")
    if max_attempts is not None and max_attempts < 1:
        raise SettingsError(f"task {name}: max_attempts={max_attempts!r}; give 1 or more")
    if isolation not in get_args(Isolation):
        raise SettingsError(
            f'task {name}: isolation={isolation!r}; use "context", "page" or "worker"'
        )
    if shape is not None and not is_shape(shape):
        raise SettingsError(f"task {name}: params={shape!r}; give a dataclass or a TypedDict")


def _check_patience(name: str, retry_delay: float | None, max_blocks: int | None) -> None:
    if retry_delay is not None and retry_delay < 0:
        raise SettingsError(f"task {name}: retry_delay={retry_delay!r}; give seconds, 0 or more")
    if max_blocks is not None and max_blocks < 1:
        raise SettingsError(f"task {name}: max_blocks={max_blocks!r}; give 1 or more")


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
    def caps(self) -> dict[str, int]:
        """How many attempts each task gives its jobs, of those that say so."""
        return {t.name: t.max_attempts for t in self._tasks.values() if t.max_attempts}

    def find(self, name: str) -> Task | None:
        """Return the task of that name, if it is loaded."""
        return self._tasks.get(name)

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
    """Load the built-in tasks and those of each file or module.

    Raises SettingsError that names both places when two tasks have one name.
    """
    tasks = [item for name in BUILT_IN for item in _marked(importlib.import_module(name))]
    for source in sources:
        found = _marked(_import(source))
        if not found:
            raise SettingsError(
                f"--tasks {source}: no task in it; mark a function with "
                f'@task("name") from `from worker import task`'
            )
        tasks += found
    _refuse_doubles(tasks)
    return Registry(tasks)


def _refuse_doubles(tasks: Iterable[Task]) -> None:
    known: dict[str, Task] = {}
    for item in tasks:
        other = known.setdefault(item.name, item)
        if other.function is not item.function and _place(other) != _place(item):
            raise SettingsError(
                f"two tasks are named {item.name!r}: {_place(other)} and {_place(item)}; "
                f"give one of them another name"
            )


def _place(item: Task) -> str:
    """Say where a task stands: its file and line."""
    function = inspect.unwrap(item.function)
    code = getattr(function, "__code__", None)
    if code is None:
        return f"{type(function).__module__}.{type(function).__qualname__}"
    is_ours = getattr(function, "__module__", "") in BUILT_IN
    place = f"{code.co_filename}:{code.co_firstlineno}"
    return f"the built-in one ({place})" if is_ours else place


def _import(source: str) -> ModuleType:
    path = Path(source)
    is_file = path.suffix == ".py" or "/" in source
    if is_file and not path.is_file():
        raise SettingsError(f"--tasks {source}: there is no such file")
    try:
        return _import_file(path) if is_file else _import_module(source)
    except SyntaxError as error:
        where = f"{error.filename}:{error.lineno}"
        raise SettingsError(f"--tasks {source}: syntax error in {where}: {error.msg}") from error
    except SettingsError:
        raise
    except BaseException as error:
        # A task file is a stranger's code: whatever it raises, even SystemExit, is one line here.
        frame = traceback.extract_tb(error.__traceback__)[-1]
        raise SettingsError(
            f"--tasks {source}: cannot be loaded: {type(error).__name__}: "
            f"{' '.join(str(error).split())} "
            f"({frame.filename}:{frame.lineno})"
        ) from error


def _import_file(path: Path) -> ModuleType:
    # Its neighbours can be imported as if the file had been run as a script.
    sys.path.insert(0, str(path.resolve().parent))
    name = f"nightshift_tasks_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SettingsError(f"--tasks {path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _import_module(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    if importlib.util.find_spec(name) is None:
        raise SettingsError(
            f"--tasks {name}: no module of that name; for a file write its path: ./{name}.py"
        )
    return importlib.import_module(name)


def _marked(module: ModuleType) -> list[Task]:
    # Statically, because some objects (a web framework's proxies) raise whatever they are asked.
    found = [inspect.getattr_static(value, _MARK, None) for value in vars(module).values()]
    return [item for item in found if isinstance(item, Task)]
