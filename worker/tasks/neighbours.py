"""A task file and what stands beside it: imported as one package that is named after its folder.

So `import helpers` in two folders finds two modules, also in a function that imports late, and
relative imports work. A folder on Python's own path is left to Python.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
import importlib.machinery
import importlib.util
import re
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, FileFinder, ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = "nightshift_tasks"
# Folders that are on the path for imports by a computed name only.
_late_folders: set[str] = set()


def root_of(folder: Path) -> Path:
    """Return the folder in which a folder's outermost package lies; itself if it is none."""
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def import_file(path: Path, root: Path) -> ModuleType:
    """Import a file as a module of its root folder's package; a second time it is the same."""
    path = path.resolve()
    package = _package(root)
    *folders, stem = path.relative_to(root).with_suffix("").parts
    for folder in folders:
        package = f"{package}.{folder}"
        importlib.import_module(package)
    if stem == "__init__":
        return importlib.import_module(package)
    name = f"{package}.{stem.replace('.', '_')}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path, loader=_Loader(name, str(path)))
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _package(root: Path) -> str:
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    digest = hashlib.sha256(str(root).encode()).hexdigest()[:8]
    name = f"{PACKAGE}.{re.sub(r'[^a-z0-9]', '_', root.name.lower())}_{digest}"
    for each, folders in ((PACKAGE, []), (name, [str(root)])):
        if each not in sys.modules:
            module = ModuleType(each)
            module.__path__ = folders
            sys.modules[each] = module
    # `importlib.import_module("helpers")` passes by what is done here.
    find_late(root)
    return name


def find_late(folder: Path) -> None:
    """Let Python find modules of a folder that are nowhere else, and never instead of others."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
        _late_folders.add(str(folder))


class _Finder(MetaPathFinder):
    """Finds the modules of task folders, so that all of them import their own neighbours."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is None or not name.startswith(f"{PACKAGE}."):
            return None
        for folder in path:
            kinds = (
                (ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
                (_Loader, importlib.machinery.SOURCE_SUFFIXES),
            )
            found = FileFinder(folder, *kinds).find_spec(name, target)
            if found is not None:
                return found
        return None


class _Loader(SourceFileLoader):
    """Runs a module with an `import` of its own, which looks beside the module first."""

    def exec_module(self, module: ModuleType) -> None:
        own: dict[str, Any] = {**vars(builtins), "__import__": _import}
        vars(module)["__builtins__"] = own
        super().exec_module(module)


def _import(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] = (),
    level: int = 0,
) -> ModuleType:
    package = _package_with(name, globals or {}) if level == 0 else None
    if package is None:
        return builtins.__import__(name, globals, locals, fromlist, level)
    real = f"{package}.{name}"
    if fromlist:
        return builtins.__import__(real, globals, locals, fromlist, 0)
    importlib.import_module(real)
    return sys.modules[f"{package}.{name.partition('.')[0]}"]


def _package_with(name: str, importer: Mapping[str, Any]) -> str | None:
    """Find the package whose folder has what is imported: the importer's own, then its root's."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names:
        return None
    own = str(importer.get("__package__") or "")
    root = ".".join(own.split(".")[:2])
    for package in dict.fromkeys((own, root)):
        for folder in getattr(sys.modules.get(package), "__path__", ()):
            is_on_path = folder in sys.path and folder not in _late_folders
            if not is_on_path and _has(Path(folder), top):
                return package
    return None


def _has(folder: Path, top: str) -> bool:
    if (folder / f"{top}.py").is_file() or (folder / top / "__init__.py").is_file():
        return True
    # A folder without __init__.py is a package only where nothing else has its name.
    is_folder = (folder / top).is_dir() and any((folder / top).glob("*.py"))
    if not is_folder or top in sys.modules:
        return False
    spec = importlib.util.find_spec(top)
    return spec is None or spec.origin is None
