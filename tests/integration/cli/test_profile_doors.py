"""What `profiles`, `proxies` and `doctor` tell of how profiles go out, and of changed proxies."""

from __future__ import annotations

import json
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.integration import profile_cli
from tests.integration.profile_cli import refused, said
from tests.integration.profile_fixtures import add as add
from tests.integration.profile_fixtures import events, state
from worker.profiles import store
from worker.profiles.states import State
from worker.proxies import choice
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy

cli = profile_cli.cli


def berlin(port: int = 1, region: str | None = "de") -> Proxy:
    return Proxy("http", "127.0.0.1", port, name="berlin", region=region)


def proxy_of(database, name: str) -> str | None:
    return store.get(database, name)["proxy"]


def test_a_profile_says_that_it_goes_out_directly(cli, database):
    proxies.add(database, berlin())

    told = said(cli("profiles", "add", "p1", "--proxy", "none"))

    assert "; it is available" in told
    assert proxy_of(database, "p1") == "none"
    assert "none: it goes out directly" in said(cli("profiles", "show", "p1"))
    said(cli("profiles", "set", "p1", "--no-proxy"))
    assert proxy_of(database, "p1") is None
    assert "it does not say" in said(cli("profiles", "show", "p1"))
    said(cli("profiles", "set", "p1", "--proxy", "none"))
    assert proxy_of(database, "p1") == "none"


def test_add_and_import_tell_of_profiles_that_say_nothing(cli, database, tmp_path):
    assert "it is available" in said(cli("profiles", "add", "p0"))
    proxies.add(database, berlin())
    path = tmp_path / "profiles.csv"
    path.write_text("id,proxy\np2,berlin\np3,none\np4,\np5,\n")

    alone = said(cli("profiles", "add", "p1"))
    many = said(cli("profiles", "import", str(path)))

    assert "it is not ready\nthere are proxies, and profile p1 says neither which" in alone
    assert "launcher.py profiles set p1 --proxy NAME (or none)" in alone
    assert "2 profiles (p4, p5) are not ready" in many
    assert [proxy_of(database, f"p{n}") for n in (2, 3, 4)] == ["berlin", "none", None]


def test_the_first_proxy_tells_which_profiles_wait_for_a_word_now(cli, add):
    add("p1", "p2", proxy=None)

    told = said(cli("proxies", "add", "berlin", "http://127.0.0.1:1"))

    assert "2 profiles (p1, p2) are not ready" in told


def test_doctor_names_profiles_without_a_door(cli, database, add):
    def ways_out() -> dict:
        told = json.loads(cli("doctor", "--json").stdout)
        return next(each for each in told if each["check"] == "ways out")

    add("p1")
    assert ways_out()["text"] == "there are no proxies: everything goes out directly"
    proxies.add(database, berlin())
    found = ways_out()
    assert (found["is_ok"], "profile p1 says neither which proxy" in found["text"]) == (False, True)
    database.run_statement("UPDATE profiles SET proxy = 'none'")
    add("p2", provider="kameleo", vendor_id="v", proxy="berlin")
    assert ways_out()["text"] == (
        "everything goes through 1 proxy; 1 profile (p1) directly, as said; "
        "1 profile (p2) as the provider's browser has it"
    )
    add("p3", proxy="gone")
    assert "the proxy of 1 profile (p3) is not there" in ways_out()["text"]


def test_no_proxy_is_called_none(cli, tmp_path):
    assert "no proxy can be named none" in refused(
        cli("proxies", "add", "none", "http://127.0.0.1:1")
    )
    path = tmp_path / "list.txt"
    path.write_text("http://127.0.0.1:1,none,de\n")
    assert "line 1: no proxy can be named none" in refused(cli("proxies", "import", str(path)))


def test_a_proxy_in_use_is_removed_only_by_somebody_who_names_its_users(cli, database, add):
    proxies.add(database, berlin())
    add("p1", "p2", proxy="berlin")
    store.add_account(database, "ada", by="me")
    assert choice.look(database, account_id="ada").proxy.name == "berlin"

    line = refused(cli("proxies", "remove", "berlin"))

    assert "used by profiles p1, p2 and account ada; nothing was removed" in line
    command = line.partition("launcher.py proxies remove ")[2]
    assert command == "berlin --used-by p1 --used-by p2 --used-by ada --then-direct"
    assert "used by" in refused(cli("proxies", "remove", "berlin", "--used-by", "p1"))
    said(cli("proxies", "remove", *command.split()))
    assert proxies.all_proxies(database) == []
    assert events(database, "p1") == ["added", "proxy_removed"]


@pytest.mark.parametrize(
    ("back", "difference"),
    [
        (berlin(2), "address 127.0.0.1:1 → 127.0.0.1:2"),
        (berlin(region="us"), "region de → us"),
        (berlin(region=None), "region de → –"),
    ],
)
def test_a_proxy_that_comes_back_as_another_puts_its_profiles_up_for_review(
    cli, database, add, back, difference
):
    proxies.add(database, berlin())
    add("p1", "p2", proxy="berlin")
    add("p3", proxy="none")
    store.set_state(database, "p2", State.QUARANTINED, reason="odd", by="me")
    users = ("--used-by", "p1", "--used-by", "p2")
    last = refused(cli("proxies", "remove", "berlin", *users))
    assert last.endswith("proxies remove berlin --used-by p1 --used-by p2 --then-direct")
    said(cli("proxies", "remove", "berlin", *users, "--then-direct"))

    line = f"{back.label},berlin,{back.region or ''}\n"
    told = said(cli("proxies", "import", "-", stdin=line))

    assert f"proxy berlin is another than before ({difference})" in told
    assert "up for review: p1, p2" in told
    assert [state(database, name) for name in ("p1", "p2", "p3")] == [
        "review_required",
        "quarantined",
        "available",
    ]
    assert events(database, "p1")[-1] == events(database, "p2")[-1] == "proxy_changed"


def test_a_proxy_that_comes_back_as_it_was_disturbs_nobody(cli, database, add):
    proxies.add(database, berlin())
    add("p1", proxy="berlin")
    said(cli("proxies", "remove", "berlin", "--used-by", "p1", "--then-direct"))

    said(cli("proxies", "add", "berlin", "http://127.0.0.1:1", "--region", "de"))

    assert state(database) == "available"
    assert "proxy_changed" not in events(database)


def test_another_address_set_in_place_is_a_change_and_another_login_is_none(cli, database, add):
    proxies.add(database, berlin())
    add("p1", proxy="berlin")

    said(cli("proxies", "set", "berlin", stdin="http://ann:pw@127.0.0.1:1\n"))
    assert (state(database), events(database)[-1]) == ("available", "added")

    told = said(cli("proxies", "set", "berlin", stdin="http://ann:pw@127.0.0.1:2\n"))
    assert "proxy berlin is another than before (address 127.0.0.1:1 → 127.0.0.1:2)" in told
    assert "up for review: p1" in told
    assert (state(database), events(database)[-1]) == ("review_required", "proxy_changed")


class AnsweringProxy:
    """An HTTP proxy that answers everything by itself: so every site, and so for itself."""

    def __init__(self) -> None:
        self.site = (200, b"")
        self.itself = 502
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                is_own = self.path.startswith("http://nightshift.invalid/")
                status, body = (proxy.itself, b"") if is_own else proxy.site
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_CONNECT(self) -> None:
                self.send_response(proxy.itself)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def answering(database):
    with closing(AnsweringProxy()) as proxy:
        proxies.add(database, berlin(proxy.port))
        yield proxy


@pytest.mark.parametrize("status", [401, 407])
@pytest.mark.parametrize("url", ["http://site.test/", "https://site.test/"])
def test_a_login_that_the_proxy_itself_refuses_fails_the_test(cli, answering, status, url):
    answering.site, answering.itself = (status, b""), status

    told = said(cli("proxies", "test", "--url", url))

    assert told.endswith(f"it refuses the login (HTTP {status})")


@pytest.mark.parametrize("status", [401, 407])
def test_a_login_that_the_site_wants_is_no_fault_of_the_proxy(cli, answering, status):
    answering.site = (status, b"")

    told = said(cli("proxies", "test", "--url", "http://site.test/"))

    assert ": ok in " in told
    assert told.endswith(f"HTTP {status} from the site, not from the proxy")


def test_another_exit_address_is_an_event_and_puts_profiles_up_for_review(
    cli, database, add, answering
):
    add("p1", proxy="berlin")

    def test() -> str:
        return said(cli("proxies", "test", "--url", "http://ip.test/"))

    answering.site = (200, b"203.0.113.7\n")
    assert test().endswith("; sites see 203.0.113.7")
    answering.site = (200, b'{"ip": "203.0.113.7"}')
    test()
    answering.site = (200, b"<html>hello</html>")
    test()
    assert state(database) == "available"

    answering.site = (200, b'{"origin": "203.0.113.8"}')
    told = test()

    assert "another than before (sites see 203.0.113.7 → 203.0.113.8); up for review: p1" in told
    assert (state(database), events(database)[-1]) == ("review_required", "proxy_changed")
