"""JSON that strangers write: what Python or a server cannot hold is refused with its place.

JSON knows numbers of any length; Python and the servers do not. What is stored already is read all
the same by `parse_stored`, so that one odd row never ends an export.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

from worker.models import JSON

# What a double holds; MySQL stores no number beyond it.
MOST_DIGITS = 308
_LONG_NUMBER = re.compile(rf"\d{{{MOST_DIGITS + 1}}}")
REMEDY = "write it as a text"
# What JSON allows around a value.
_SPACE = " \t\n\r"


class OddJson(ValueError):
    """It is JSON, but it holds what Python or a server cannot."""


def parse(text: str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> JSON:
    """Read JSON; raises OddJson or, for what is no JSON, another ValueError."""
    decoder = _DECODER if pairs is None else _decoder(pairs)
    try:
        parsed: JSON = decoder.decode(text)
    except RecursionError as error:
        raise OddJson("nested too deeply") from error
    return parsed


def parse_stored(text: str) -> JSON:
    """Read what a server has stored, whatever it is: an odd number is given as its text."""
    bare = text.strip(_SPACE)
    parsed: JSON
    try:
        # Half of what `decode` takes, which looks for the space by itself.
        parsed, end = _LENIENT.raw_decode(bare)
    except (ValueError, RecursionError):
        return text
    return parsed if end == len(bare) else text


def problem_in(value: Any, where: str) -> str | None:
    """Name the first part of a value that JSON or a server cannot hold, and why; None if all can.

    For a value that was refused, or looks odd: it is slower than writing.
    """
    try:
        return _problem_in(value, where)
    except RecursionError:
        return f"{where} is nested too deeply"


def has_long_number(text: str) -> bool:
    """Tell, at little cost, whether written JSON may hold a number that no server stores."""
    return len(text) > MOST_DIGITS and _LONG_NUMBER.search(text) is not None


def whole_characters(value: Any) -> Any:
    """Replace half characters in the texts of a value, as every program does that writes UTF-8."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return value
    if isinstance(value, dict):
        return {whole_characters(key): whole_characters(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [whole_characters(inner) for inner in value]
    return value


def _problem_in(value: Any, where: str) -> str | None:
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str | int | float | bool | None):
                return f"{where} is not JSON: a key is of type {type(key).__name__}"
            if problem := _problem_in(inner, f"{where}.{key}"):
                return problem
        return None
    if isinstance(value, list | tuple):
        problems = (_problem_in(inner, f"{where}[{at}]") for at, inner in enumerate(value))
        return next((problem for problem in problems if problem), None)
    if isinstance(value, float) and not math.isfinite(value):
        return f"{where} is not JSON: {value} is no number there"
    if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
        return f"{where} is a number of more than {MOST_DIGITS} digits; {REMEDY}"
    if value is None or isinstance(value, str | int | float):
        return None
    return f"{where} is not JSON: it is of type {type(value).__name__}"


def _whole_number(text: str) -> int:
    digits = len(text.lstrip("-"))
    if digits > MOST_DIGITS:
        raise OddJson(f"it holds a number of {digits:,} digits; {REMEDY}")
    return int(text)


def _decimal_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise OddJson(f"it holds the number {text[:40]}, which is too large; {REMEDY}")
    return number


def _no_number(name: str) -> float:
    raise OddJson(f"it holds {name}, which is no number in JSON")


def _whole_number_or_text(text: str) -> int | str:
    if len(text) <= MOST_DIGITS or len(text.lstrip("-")) <= MOST_DIGITS:
        return int(text)
    return text


def _decimal_number_or_text(text: str) -> float | str:
    number = float(text)
    return number if -math.inf < number < math.inf else text


def _decoder(pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> json.JSONDecoder:
    return json.JSONDecoder(
        parse_int=_whole_number,
        parse_float=_decimal_number,
        parse_constant=_no_number,
        object_pairs_hook=pairs,
    )


# Made once: making one takes as long as reading a small payload.
_DECODER = _decoder()
_LENIENT = json.JSONDecoder(
    parse_int=_whole_number_or_text, parse_float=_decimal_number_or_text, parse_constant=str
)
