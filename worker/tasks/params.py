"""A payload's declared shape: checked before a browser is touched, and complained of by field.

The shape is a dataclass or a TypedDict. Texts are taken as numbers and truth values where those
are declared, because a CSV file knows only texts.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from worker.errors import PayloadError, SettingsError
from worker.evidence.secret_names import is_secret_name

_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def shape_of(function: Callable[..., Any]) -> type | None:
    """Find the shape that a task's second parameter is annotated with, if it is one."""
    names = list(inspect.signature(function).parameters)
    if len(names) < 2 or names[1] not in function.__annotations__:
        return None
    # Only this one is resolved: others, such as the page's, may be for type checkers only.
    lone = type("lone", (), {"__annotations__": {"it": function.__annotations__[names[1]]}})
    try:
        hint = get_type_hints(lone, globalns=function.__globals__)["it"]
    except (NameError, TypeError):
        return None
    return hint if isinstance(hint, type) and is_shape(hint) else None


def is_shape(kind: Any) -> bool:
    """Whether a class can declare a payload."""
    return (dataclasses.is_dataclass(kind) and isinstance(kind, type)) or typing.is_typeddict(kind)


def fit(
    payload: Mapping[str, Any], shape: type, *, undeclared: frozenset[str] = frozenset()
) -> Any:
    """Give the payload its declared shape; raises PayloadError that names the field.

    Fields in `undeclared` are left out, unless the shape declares them.
    """
    if not undeclared.isdisjoint(payload):
        left_out = undeclared - get_type_hints(shape).keys()
        payload = {name: value for name, value in payload.items() if name not in left_out}
    return _fit(payload, shape, "payload")


def optional(shape: type) -> frozenset[str]:
    """Name the fields that a payload of this shape may lack."""
    return frozenset(get_type_hints(shape, include_extras=True).keys() - _required(shape))


def _fit(value: Any, hint: Any, where: str) -> Any:
    origin = get_origin(hint)
    if hint in (Any, object):
        return value
    if is_shape(hint):
        return _fit_shape(value, hint, where)
    if origin in (typing.Required, typing.NotRequired, typing.Annotated):
        return _fit(value, get_args(hint)[0], where)
    if origin in (Union, types.UnionType):
        return _fit_any_of(value, get_args(hint), where)
    if origin is Literal:
        if value in get_args(hint):
            return value
        raise _wrong(value, "one of " + ", ".join(map(repr, get_args(hint))), where)
    if list in (origin, hint):
        return _fit_list(value, get_args(hint), where)
    if dict in (origin, hint):
        return _fit_dict(value, get_args(hint), where)
    return _fit_plain(value, hint, where)


def _fit_shape(value: Any, shape: type, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise _wrong(value, "an object", where)
    hints = get_type_hints(shape, include_extras=True)
    required = _required(shape)
    if unknown := sorted(set(value) - set(hints)):
        known = ", ".join(hints)
        raise PayloadError(f'{where} has the unknown field "{unknown[0]}"; known are {known}')
    for name in hints:
        if name in required and name not in value:
            raise PayloadError(f'{where} lacks "{name}" ({_name(hints[name])})')
    fitted = {
        name: _fit(value[name], hints[name], f"{where}.{name}")
        for name in value
        if name in required or not _is_left_empty(value[name], hints[name])
    }
    return shape(**fitted) if dataclasses.is_dataclass(shape) else fitted


def _is_left_empty(value: Any, hint: Any) -> bool:
    """Whether a CSV file has left a cell empty: a text is none where something else is declared.

    Where a text is declared, the empty one may be meant.
    """
    return value == "" and not _takes_empty_text(hint)


def _takes_empty_text(hint: Any) -> bool:
    origin = get_origin(hint)
    if origin in (typing.Required, typing.NotRequired, typing.Annotated):
        return _takes_empty_text(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        return any(map(_takes_empty_text, get_args(hint)))
    return hint in (str, Any, object) or (origin is Literal and "" in get_args(hint))


def _required(shape: type) -> set[str]:
    if not dataclasses.is_dataclass(shape):
        return {
            name
            for name, hint in get_type_hints(shape, include_extras=True).items()
            if _is_required(shape, name, hint)
        }
    return {
        field.name
        for field in dataclasses.fields(shape)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }


def _is_required(shape: Any, name: str, hint: Any) -> bool:
    # Where annotations are texts, the class itself has not seen what is marked NotRequired.
    if get_origin(hint) in (typing.Required, typing.NotRequired):
        return get_origin(hint) is typing.Required
    return name in shape.__required_keys__


def _fit_any_of(value: Any, hints: tuple[Any, ...], where: str) -> Any:
    shapes = [hint for hint in hints if is_shape(hint)]
    has_dict = any(dict in (hint, get_origin(hint)) for hint in hints)
    if isinstance(value, Mapping) and len(shapes) == 1 and not has_dict:
        # Only this can be meant, and its complaint names the inner field.
        return _fit_shape(value, shapes[0], where)
    for hint in hints:
        try:
            return _fit(value, hint, where)
        except PayloadError:
            continue
    if value == "" and type(None) in hints:
        # What a CSV file leaves empty.
        return None
    raise _wrong(value, " or ".join(_name(hint) for hint in hints), where)


def _fit_list(value: Any, arguments: tuple[Any, ...], where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _wrong(value, "a list", where)
    hint = arguments[0] if arguments else Any
    return [_fit(item, hint, f"{where}[{index}]") for index, item in enumerate(value)]


def _fit_dict(value: Any, arguments: tuple[Any, ...], where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(value, "an object", where)
    hint = arguments[1] if len(arguments) == 2 else Any
    return {key: _fit(item, hint, f"{where}.{key}") for key, item in value.items()}


def _fit_plain(value: Any, kind: Any, where: str) -> Any:
    if kind in (None, type(None)):
        if value is None:
            return None
        raise _wrong(value, "null", where)
    if kind not in _NAMES:
        raise SettingsError(
            f"{where}: a payload cannot hold {kind!r}; declare texts, numbers, lists"
        )
    if isinstance(value, kind) and not (kind is not bool and isinstance(value, bool)):
        return value
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is bool and isinstance(value, str) and value.strip().lower() in _TRUTH:
        return _TRUTH[value.strip().lower()]
    if kind in (int, float) and isinstance(value, str):
        try:
            number = kind(value)
        except ValueError:
            raise _wrong(value, _NAMES[kind], where) from None
        # The texts nan and 1e999 are numbers for Python, and for nobody else.
        if math.isfinite(number):
            return number
    raise _wrong(value, _NAMES[kind], where)


def _name(hint: Any) -> str:
    if hint in _NAMES:
        return _NAMES[hint]
    if hint is None or hint is type(None):
        return "null"
    origin = get_origin(hint)
    if origin in (typing.Required, typing.NotRequired, typing.Annotated):
        return _name(get_args(hint)[0])
    return {list: "a list", dict: "an object"}.get(origin or hint, "an object")


def _wrong(value: Any, expected: str, where: str) -> PayloadError:
    if is_secret_name(where.rpartition(".")[2]):
        return PayloadError(f"{where}: expected {expected}, got something else")
    shown = repr(value)
    return PayloadError(f"{where}: expected {expected}, got {shown[:60]}{'…' * (len(shown) > 60)}")
