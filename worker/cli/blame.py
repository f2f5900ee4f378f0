"""Whom a message blames: the flag when the flag was given, its variable when that was.

What is wrong with a value is often found long after the command line was read, by code that knows
one of the two names. The command's root context keeps which was given.
"""

from __future__ import annotations

import re
from dataclasses import Field
from typing import Any

import click
from click.core import ParameterSource

from worker.settings import flag_fields, flag_name, variable_name

Given = dict[str, str]


def note(ctx: click.Context, param: click.Parameter, flag: str, variable: str) -> None:
    """Keep from where a setting has its value, if it has not just its default."""
    given = ctx.find_root().obj
    source = ctx.get_parameter_source(param.name or "")
    if not isinstance(given, dict):
        return
    if source is ParameterSource.ENVIRONMENT:
        given[flag] = variable
    elif source is ParameterSource.COMMANDLINE:
        given[flag] = flag


def rightly(text: str, given: Given) -> str:
    """Begin a message that begins with a flag or its variable with the one that was given."""
    named = re.match(r"(--[a-z][a-z-]*|NIGHTSHIFT_[A-Z_]+)(?=[ :])", text)
    if named is None:
        return text
    names = {name: flag_name(each) for each in flag_fields() for name in _both(each)}
    flag = names.get(named[1], "")
    return given.get(flag, named[1]) + text[named.end() :]


def _both(each: Field[Any]) -> tuple[str, str]:
    return flag_name(each), variable_name(each)
