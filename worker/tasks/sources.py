"""Importing what a setting names: a file or a module of the user's own.

Whatever goes wrong in it is one line that names the setting, never a traceback of ours.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from worker.errors import SettingsError


def import_source(source: str, option: str, *, reuse: bool = False) -> ModuleType:
    """Import a file or a module; raises SettingsError that names the option and what is wrong.

    With `reuse`, a file that this process has imported already is not run a second time.
    """
    path = Path(source)
    is_file = path.suffix == ".py" or "/" in source
    if is_file and not path.is_file():
        raise SettingsError(f"{option} {source}: there is no such file")
    try:
        if is_file and reuse and (known := _imported(path)) is not None:
            return known
        return _import_file(path, option) if is_file else _import_module(source, option)
    except SyntaxError as error:
        where = f"{error.filename}:{error.lineno}"
        raise SettingsError(f"{option} {source}: syntax error in {where}: {error.msg}") from error
    except SettingsError:
        raise
    except BaseException as error:
        # It is a stranger's code: whatever it raises, even SystemExit, is one line here.
        frame = traceback.extract_tb(error.__traceback__)[-1]
        raise SettingsError(
            f"{option} {source}: cannot be loaded: {type(error).__name__}: "
            f"{' '.join(str(error).split())} "
            f"({frame.filename}:{frame.lineno})"
        ) from error


def _imported(path: Path) -> ModuleType | None:
    known = sys.modules.get(_name(path))
    is_same = known is not None and known.__file__ and Path(known.__file__).samefile(path)
    return known if is_same else None


def _name(path: Path) -> str:
    return f"nightshift_tasks_{path.stem}"


def _import_file(path: Path, option: str) -> ModuleType:
    # Its neighbours can be imported as if the file had been run as a script.
    sys.path.insert(0, str(path.resolve().parent))
    name = _name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SettingsError(f"{option} {path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _import_module(name: str, option: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    if importlib.util.find_spec(name) is None:
        raise SettingsError(
            f"{option} {name}: no module of that name; for a file write its path: ./{name}.py"
        )
    return importlib.import_module(name)
