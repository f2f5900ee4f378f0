"""Python code with tasks in it: a file, a folder, a module or a package, by what it is given as.

What stands beside a file can be imported as in a script (`import helpers`) and relatively; files of
another folder get their own `helpers`. Whatever the code raises is one line that names the source.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from worker.errors import SettingsError
from worker.installation import checkout
from worker.project import project_dir
from worker.tasks import neighbours

# What lies in a folder of tasks and is none: tests, and what tools and other programs keep there.
_NOT_TASKS = ("conftest.py", "setup.py", "__main__.py")
_NOT_FOLDERS = ("__pycache__", "node_modules", "site-packages", "tests")


def import_source(source: str) -> list[ModuleType]:
    """Import everything that a source stands for; raises SettingsError in one line."""
    path = Path(source)
    is_path = path.suffix == ".py" or "/" in source or path.is_dir()
    if is_path and not path.exists():
        raise SettingsError(f"--tasks {source}: there is no such file")
    try:
        return list(_from_path(path) if is_path else _from_name(source))
    except SyntaxError as error:
        where = f"{error.filename}:{error.lineno}"
        raise SettingsError(f"--tasks {source}: syntax error in {where}: {error.msg}") from error
    except SettingsError as error:
        raise SettingsError(f"--tasks {source}: {error}") from error
    except BaseException as error:
        # A task file is a stranger's code: whatever it raises, even SystemExit, is one line here.
        raise SettingsError(
            f"--tasks {source}: cannot be loaded: {type(error).__name__}: "
            f"{' '.join(str(error).split())} ({_place(error)})"
        ) from error


def _from_path(path: Path) -> Iterator[ModuleType]:
    if project_dir() != checkout():
        # Tasks use the program that they belong to: `from shop.models import Product`.
        neighbours.find_late(project_dir())
    if not path.is_dir():
        yield neighbours.import_file(path, neighbours.root_of(path.resolve().parent))
        return
    root = neighbours.root_of(path.resolve())
    for file in sorted(path.rglob("*.py")):
        if _is_of_tasks(file.relative_to(path), path):
            yield neighbours.import_file(file, root)


def _is_of_tasks(relative: Path, folder: Path) -> bool:
    name = relative.name
    if name in _NOT_TASKS or name.startswith("test_") or name.endswith("_test.py"):
        return False
    inner = relative.parts[:-1]
    if any(part.startswith(".") or part in _NOT_FOLDERS for part in relative.parts):
        return False
    above = (folder.joinpath(*inner[: count + 1]) for count in range(len(inner)))
    return not any((each / "pyvenv.cfg").exists() for each in above)


def _from_name(name: str) -> Iterator[ModuleType]:
    for folder in (str(project_dir()), str(Path.cwd())):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    if importlib.util.find_spec(name) is None:
        raise SettingsError(f"no module of that name; for a file write its path: ./{name}.py")
    module = importlib.import_module(name)
    yield module
    for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}."):
        relative = Path(*found.name.split(".")[1:]).with_suffix(".py")
        if _is_of_tasks(relative, Path()):
            yield importlib.import_module(found.name)


def _place(error: BaseException) -> str:
    """Name the last line of the stranger's own code, not of what imports it."""
    ours = (__file__, neighbours.__file__, importlib.__file__)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename not in ours and "<frozen" not in frame[0]]
    frame = (own or frames)[-1]
    return f"{frame.filename}:{frame.lineno}"
