"""A function of the user's own that a setting names: FILE_OR_MODULE:FUNCTION.

Its file is imported once, also if its tasks were loaded before. Whatever goes wrong in it is one
line that names the setting.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from worker.errors import SettingsError, message_of


def function_of(how: str, setting: str, otherwise: str) -> Callable[..., Any]:
    """Find the function that a setting names; `otherwise` says what to give instead of nonsense."""
    source, colon, name = how.rpartition(":")
    if not colon or not source or not name:
        raise SettingsError(f"{setting} {how}: {otherwise}: FILE_OR_MODULE:FUNCTION")
    function = getattr(load(source, setting), name, None)
    if not callable(function):
        raise SettingsError(f"{setting} {how}: there is no function {name} in {source}")
    found: Callable[..., Any] = function
    return found


def load(source: str, setting: str) -> ModuleType:
    """Import a file or a module; raises SettingsError that says what is wrong with it."""
    path = Path(source)
    is_file = path.suffix == ".py" or "/" in source
    if is_file and not path.is_file():
        raise SettingsError(f"{setting} {source}: there is no such file")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return _file(path) if is_file else importlib.import_module(source)
    except BaseException as error:
        # It is a stranger's code: whatever it raises, even SystemExit, is one line here.
        said = " ".join(message_of(error).split())
        raise SettingsError(
            f"{setting} {source}: cannot be loaded: {type(error).__name__}: {said}"
        ) from error


def _file(path: Path) -> ModuleType:
    for module in list(sys.modules.values()):
        known = getattr(module, "__file__", None)
        if isinstance(known, str) and os.path.realpath(known) == os.path.realpath(path):
            return module
    # Its neighbours can be imported as if the file had been run as a script.
    sys.path.insert(0, str(path.resolve().parent))
    name = f"nightshift_user_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
