"""A dashboard over one night for each file of tests; tests that change much make their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dashboard_site import Site, made


@pytest.fixture(scope="module")
def site(server, tmp_path_factory) -> Iterator[Site]:
    with made(server, tmp_path_factory.mktemp("dashboard")) as found:
        yield found


@pytest.fixture(scope="module")
def guarded_site(server, tmp_path_factory) -> Iterator[Site]:
    """The same, where mara is an operator and vic a viewer."""
    with made(server, tmp_path_factory.mktemp("guarded")) as found:
        found.add_people()
        yield found
