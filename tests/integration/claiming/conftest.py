"""Proxies that a test adds, and a worker at the gate."""

from __future__ import annotations

from tests.integration.gate_worker import worker
from tests.integration.proxy_fixtures import add

__all__ = ["add", "worker"]
