"""References to secrets: `{"secret": "SHOP_PASSWORD"}` names one instead of holding it.

They stand where a payload, a task or a setting would otherwise hold the secret itself; only there
does the name count as a name. `tasks/named_secrets.py` reads what is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Fields whose own fields may be references, and those that may be one as a whole.
AROUND = frozenset({"fill", "extra_http_headers", "http_credentials"})
WHOLE = frozenset({"storage_state"})


def is_reference(value: Any) -> bool:
    """Tell whether a value only names a secret."""
    return isinstance(value, Mapping) and set(value) == {"secret"}


def without_references(value: Mapping[Any, Any]) -> dict[Any, Any]:
    """Leave out of an object what only names a secret, where that may be."""
    return {
        name: _around(inner) if name in AROUND else inner
        for name, inner in value.items()
        if name not in WHOLE or not is_reference(inner)
    }


def _around(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: inner for name, inner in value.items() if not is_reference(inner)}
