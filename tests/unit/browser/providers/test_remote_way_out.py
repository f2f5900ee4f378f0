"""What a command line tells of how a browser goes out."""

from __future__ import annotations

import pytest

from worker.browser.providers.remote_way_out import contradiction
from worker.proxies.proxy import Proxy

BERLIN = Proxy("http", "berlin.example", 8080, name="berlin")


@pytest.mark.parametrize(
    ("command_line", "seen"),
    [
        ("chrome --no-proxy-server", "directly"),
        ("chrome --proxy-server=direct:// x", "directly"),
        ("chrome --proxy-server=http://paris.example:1", "through http://paris.example:1"),
        ('chrome --proxy-server="u:w@paris.example:1"', "through paris.example:1"),
        ("chrome --proxy-server=http://berlin.example:8080 --x", None),
        ("chrome --proxy-server=http=berlin.example:8080;https=berlin.example:8080", None),
        # A relay of the vendor's, or a way that cannot be seen.
        ("chrome --proxy-server=socks5://127.0.0.1:4711", None),
        ("chrome --proxy-server=http=localhost:1", None),
        ("chrome --user-data-dir=/x", None),
        ("", None),
    ],
)
def test_only_what_plainly_contradicts_the_profile_is_refused(command_line, seen):
    assert contradiction(command_line, BERLIN) == seen
