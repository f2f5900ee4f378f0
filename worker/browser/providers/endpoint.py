"""An endpoint for CDP, in whichever way a vendor or a person writes it."""

from __future__ import annotations

import re

_HOST_AND_PORT = re.compile(r"(\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}(/\S*)?", re.ASCII)


def normalise(endpoint: str | int) -> str | None:
    """Make digits and `host:port` an http address, leave URLs alone; None if it is neither."""
    text = str(endpoint).strip()
    if text.isascii() and text.isdigit() and 0 < int(text[:6]) < 65536:
        return f"http://127.0.0.1:{int(text)}"
    if re.fullmatch(r"(ws|wss|http|https)://[^\s/]\S*", text):
        return text
    return f"http://{text}" if _HOST_AND_PORT.fullmatch(text) else None
