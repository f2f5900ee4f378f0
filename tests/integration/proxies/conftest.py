"""Proxies that a test adds."""

from __future__ import annotations

from tests.integration.proxy_fixtures import add

__all__ = ["add"]
