"""Whom a message blames: the flag, the variable or the file's key, whichever gave the value.

What is wrong with a value is often found long after the command line was read, by code that knows
one of the names. The command's root context keeps which was given.
"""

from __future__ import annotations

import re
from dataclasses import Field
from typing import Any

import click
from click.core import ParameterSource

from worker.settings import flag_fields, flag_name, variable_name

# A flag or a variable, and what has given its value. `load_settings` puts those in that files set.
Given = dict[str, str]


def note(ctx: click.Context, param: click.Parameter, flag: str, variable: str) -> None:
    """Keep from where a setting has its value, if it has not just its default."""
    given = ctx.find_root().obj
    source = ctx.get_parameter_source(param.name or "")
    if not isinstance(given, dict):
        return
    if source is ParameterSource.ENVIRONMENT:
        given[flag] = given_by(ctx, variable)
    elif source is ParameterSource.COMMANDLINE:
        given[flag] = flag


def given_by(ctx: click.Context, variable: str) -> str:
    """Name what has set a variable: the environment, `.env`, or a key of `nightshift.toml`."""
    given = ctx.find_root().obj
    return given.get(variable, variable) if isinstance(given, dict) else variable


def rightly(text: str, given: Given) -> str:
    """Begin a message that begins with a flag or a variable with what has given its value."""
    named = re.match(r"(--[a-z][a-z-]*|[A-Z]+_[A-Z_]+)(?=[ :])", text)
    if named is None:
        return text
    names = {name: flag_name(each) for each in flag_fields() for name in _both(each)}
    flag = names.get(named[1], named[1])
    giver = given.get(flag) or given.get(named[1], named[1])
    return giver + text[named.end() :]


def _both(each: Field[Any]) -> tuple[str, str]:
    return flag_name(each), variable_name(each)
