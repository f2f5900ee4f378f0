"""`nightshift.toml`: a project's settings by table, read once and put beneath the environment.

Every value is checked here, so that a wrong one is told with the file, its table and its key. An
unknown key is an error that names the nearest one; a password is refused: it belongs into `.env`.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import Field
from pathlib import Path
from typing import Any

from worker.context_fields import Level, problem_in
from worker.dotenv import load_dotenv
from worker.errors import SettingsError, UsageError
from worker.flags import Flag, parse_duration
from worker.project import FILE, env_file, project_dir
from worker.settings import flag_fields, flag_name, variable_name

# What may be in a table beside `[run]`: the key, its variable, and the type of its value.
TABLES: dict[str, dict[str, tuple[str, type]]] = {
    "tasks": {"modules": ("NIGHTSHIFT_TASKS", list)},
    "database": {
        "host": ("MYSQL_HOST", str),
        "port": ("MYSQL_PORT", int),
        "user": ("MYSQL_USER", str),
        "name": ("MYSQL_DATABASE", str),
        "socket": ("MYSQL_SOCKET", str),
        "ssl-mode": ("MYSQL_SSL_MODE", str),
        "ssl-ca": ("MYSQL_SSL_CA", Path),
        "ssl-cert": ("MYSQL_SSL_CERT", Path),
        "ssl-key": ("MYSQL_SSL_KEY", Path),
    },
    "project": {
        "state-dir": ("NIGHTSHIFT_STATE_DIR", Path),
        "secrets-dir": ("NIGHTSHIFT_SECRETS_DIR", Path),
        "mysqld": ("NIGHTSHIFT_MYSQLD", Path),
        "host": ("NIGHTSHIFT_HOST", str),
    },
}
# Keys that hold a secret, and where it belongs.
SECRETS = {
    ("database", "password"): "MYSQL_PASSWORD=…",
    ("database", "url"): "DATABASE_URL=mysql://user:password@host:3306/name",
    ("run", "ping-url"): "NIGHTSHIFT_PING_URL=…",
    ("run", "notify"): "NIGHTSHIFT_NOTIFY=…",
    ("run", "browser-endpoint"): "NIGHTSHIFT_BROWSER_ENDPOINT=…",
}
# Where the server is: named in one place, so that no half of it comes from another.
PLACES = ("MYSQL_HOST", "MYSQL_SOCKET", "MYSQL_UNIX_PORT", "MYSQL_PORT")
_LOGIN = re.compile(r"://[^/\s:@]*:[^/\s@]+@")
_NAMES = {
    str: 'a text in quotes', int: "a whole number", bool: "true or false", Path: "a path in quotes",
    list: 'a list such as ["tasks"]', tuple: 'a list such as ["image"]',
    float: 'a duration such as "10m"',
}  # fmt: skip
_KINDS = {"bool": bool, "int": int, "float": float, "Path": Path, "tuple[str, ...]": tuple}


def load_settings(environ: MutableMapping[str, str] = os.environ) -> dict[str, str]:
    """Put `.env`, and below it `nightshift.toml`, beneath the environment.

    Return for each variable that a file has set how a message calls it: `nightshift.toml [run]
    until`. Raises SettingsError that names the file and the place in it.
    """
    dotenv = env_file(environ)
    origins = {name: f"{dotenv.name} {name}" for name in load_dotenv(dotenv, environ)}
    found = read(project_dir(environ) / FILE)
    if environ.get("DATABASE_URL", "").strip():
        found = {name: value for name, value in found.items() if not name.startswith("MYSQL_")}
    elif any(environ.get(name) for name in PLACES):
        found = {name: value for name, value in found.items() if name not in PLACES}
    places = _places()
    for name in found.keys() - environ.keys():
        environ[name] = found[name]
        origins[name] = f"{FILE} {places[name]}"
    return origins


def _places() -> dict[str, str]:
    """Say of each variable where it stands in the file, by table and key."""
    places = {variable_name(each): f"[run] {_key(each)}" for each in flag_fields()}
    places["NIGHTSHIFT_BROWSER_CONTEXT"] = "[browser.context]"
    for table, keys in TABLES.items():
        places |= {name: f"[{table}] {key}" for key, (name, _) in keys.items()}
    return places


def read(path: Path) -> dict[str, str]:
    """Read the file as variables; a missing file has none."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    found: dict[str, str] = {}
    if (browser := tables.pop("browser", None)) is not None:
        found["NIGHTSHIFT_BROWSER_CONTEXT"] = _context(path, browser)
    for table, values in tables.items():
        known = _keys(table)
        if known is None:
            hint = _nearest(table, ["run", "browser", *TABLES])
            raise SettingsError(f"{path}: unknown table [{table}]; {hint}")
        if not isinstance(values, dict):
            raise SettingsError(f"{path}: {table} stands in no table; write it under [run]")
        for key, value in values.items():
            found |= _Entry(path, table, key.replace("_", "-"), value).variable(known)
    return found


def _context(path: Path, browser: Any) -> str:
    """Read `[browser.context]` as the JSON that its variable holds."""
    if not isinstance(browser, dict) or set(browser) - {"context"}:
        strange = sorted(set(browser) - {"context"})[0] if isinstance(browser, dict) else "browser"
        raise SettingsError(
            f"{path} [browser]: unknown key {strange}; known is the table [browser.context]; "
            f"browser-type, browser-channel and browser-args stand under [run]"
        )
    given = browser.get("context", {})
    options = given
    if isinstance(given, dict):
        options = {name.replace("-", "_"): value for name, value in given.items()}
    if problem := problem_in(options, Level.RUN):
        raise SettingsError(f"{path} [browser.context]: {problem}")
    if isinstance(state := options.get("storage_state"), str):
        options["storage_state"] = str(path.parent / state)
    return json.dumps(options)


Known = Mapping[str, tuple[str, type, Flag | None]]


def _keys(table: str) -> Known | None:
    if table == "run":
        return {_key(each): _of_flag(each) for each in flag_fields() if each.name != "tasks"}
    if table not in TABLES:
        return None
    return {key: (name, kind, None) for key, (name, kind) in TABLES[table].items()}


def _key(each: Field[Any]) -> str:
    return flag_name(each).lstrip("-")


def _of_flag(each: Field[Any]) -> tuple[str, type, Flag]:
    kind = _KINDS.get(str(each.type).removesuffix(" | None"), str)
    return variable_name(each), kind, each.metadata["flag"]


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}"


class _Entry:
    """One `key = value` of the file, and how to complain of it."""

    def __init__(self, path: Path, table: str, key: str, value: Any) -> None:
        self._path = path
        self._table = table
        self._key = key
        self._value = value

    def variable(self, known: Known) -> dict[str, str]:
        """Return the variable that stands for it; raises SettingsError if it is wrong."""
        where = (self._table, self._key)
        if where in SECRETS or (isinstance(self._value, str) and _LOGIN.search(self._value)):
            better = SECRETS.get(where, "a variable")
            raise self._wrong(f"no password belongs into this file; put it into .env: {better}")
        if self._key not in known:
            raise SettingsError(
                f"{self._path} [{self._table}]: unknown key {self._key}; "
                f"{_nearest(self._key, known)}"
            )
        name, kind, flag = known[self._key]
        is_word = flag is not None and flag.parse is not None and isinstance(self._value, str)
        text = self._text(str if is_word else kind)
        if flag is not None:
            self._check(flag, kind)
        return {name: text}

    def _text(self, kind: type) -> str:
        value = self._value
        if kind is list:
            sources = [value] if isinstance(value, str) else value
            if not isinstance(sources, list) or not all(isinstance(one, str) for one in sources):
                raise self._wrong(f"expected {_NAMES[list]}")
            return shlex.join(self._source(one) for one in sources)
        if kind is tuple:
            if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                raise self._wrong(f"expected {_NAMES[tuple]}")
            return shlex.join(value)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        fits: dict[type, Callable[[], bool]] = {
            bool: lambda: isinstance(value, bool),
            int: lambda: is_number and isinstance(value, int),
            float: lambda: is_number or isinstance(value, str),
        }
        if not fits.get(kind, lambda: isinstance(value, str))():
            raise self._wrong(f"expected {_NAMES[kind]}")
        if kind is Path:
            return str(self._path.parent / Path(value).expanduser())
        return str(value).lower() if kind is bool else str(value)

    def _source(self, source: str) -> str:
        """Take what is a file or folder of the project as such, wherever the command is run."""
        path = self._path.parent / source
        is_path = "/" in source or source.endswith(".py") or path.is_dir()
        return str(path) if is_path else source

    def _check(self, flag: Flag, kind: type) -> None:
        value = self._value
        if flag.choices and value not in flag.choices:
            raise self._wrong(f"use one of {', '.join(flag.choices)}")
        try:
            if kind is float:
                value = parse_duration(str(value))
            flag.check(self._key, value)
        except ValueError as error:
            raise self._wrong(str(error)) from error
        except UsageError as error:
            raise self._wrong(str(error).removeprefix(f"{self._key}: ")) from error

    def _wrong(self, problem: str) -> SettingsError:
        return SettingsError(f"{self._path} [{self._table}] {self._key}: {problem}")
