"""`try` and `reproduce` where there are proxies: a job's page goes out as it would in a run."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of
from tests.loopback import HttpProxy, Site
from worker.profiles import store
from worker.profiles.store import NewProfile
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy

# Chromium asks no proxy for loopback addresses; this name is led there by the proxies alone.
URL = "http://shop.test/"


@pytest.fixture
def cli(settings, database, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


@pytest.fixture
def site():
    site = Site()
    yield site
    site.close()


@pytest.fixture
def berlin_and_paris(site, database):
    servers = [HttpProxy(name, site.port, "me", "hunter2") for name in ("berlin", "paris")]
    for server in servers:
        proxies.add(database, replace(Proxy.parse(server.url), name=server.name))
    yield
    for server in servers:
        server.close()


def visited(site) -> set[str | None]:
    return {via for via, count in site.asked.items() if count}


def test_a_job_goes_out_through_a_proxy_and_no_login_is_shown(cli, queue, site, berlin_and_paris):
    job = queue.enqueue("visit", {"url": URL})

    done = cli("try", "visit", "--job", str(job))

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["title"] == "in"
    assert "using proxy berlin (http://127.0.0.1:" in done.stderr
    assert "hunter2" not in done.stdout + done.stderr
    assert visited(site) == {"berlin"}


def test_a_proxy_can_be_named_also_for_a_payload(cli, site, berlin_and_paris):
    payload = json.dumps({"url": URL})

    done = cli("try", "visit", "--payload", payload, "--proxy", "paris")

    assert done.returncode == 0, done.stderr
    assert visited(site) == {"paris"}
    assert (
        "there is no proxy named"
        in cli("try", "visit", "--payload", payload, "--proxy", "oslo").stderr
    )


def test_a_job_of_a_profile_goes_through_the_profiles_proxy(
    cli, database, queue, site, berlin_and_paris
):
    store.add(database, [NewProfile("p1", proxy="paris")], "me")
    job = queue.enqueue("visit", {"url": URL, "manifest": {"profile": "p1"}})

    done = cli("reproduce", str(job))

    assert done.returncode == 0, done.stderr
    assert visited(site) == {"paris"}
    assert "belongs to profile p1; here it runs in an ordinary browser" in done.stderr


def test_without_a_usable_proxy_a_job_stays_here_unless_it_is_told_to_go(
    cli, database, queue, site, berlin_and_paris
):
    job = queue.enqueue("visit", {"url": f"http://127.0.0.1:{site.port}/"})
    for name in ("berlin", "paris"):
        proxies.disable(database, name)

    refused = cli("try", "visit", "--job", str(job))

    assert refused.returncode == 2
    assert "all 2 proxies are disabled" in refused.stderr
    assert "or use none with --direct" in refused.stderr
    assert visited(site) == set()
    direct = cli("try", "visit", "--job", str(job), "--direct")
    assert direct.returncode == 0, direct.stderr
    assert visited(site) == {None}
    both = cli("try", "visit", "--job", str(job), "--direct", "--proxy", "paris")
    assert (both.returncode, "contradict each other" in both.stderr) == (2, True)


def test_a_payload_goes_out_as_a_run_would_where_there_are_proxies(cli, site, berlin_and_paris):
    done = cli("try", "visit", "--payload", json.dumps({"url": URL}))

    assert done.returncode == 0, done.stderr
    assert visited(site) == {"berlin"}


def test_an_accounts_job_keeps_to_its_own_door(cli, database, queue, site, berlin_and_paris):
    store.add(database, [NewProfile("p1", account_id="a1", proxy="paris")], "me")
    for owner in ({"account": "a1"}, {"profile": "p1", "temporary": True}):
        job = queue.enqueue("visit", {"url": URL, "manifest": owner})

        done = cli("try", "visit", "--job", str(job))

        assert done.returncode == 0, done.stderr
        assert visited(site) == {"paris"}
        for flags in (("--proxy", "berlin"), ("--direct",)):
            refused = cli("reproduce", str(job), *flags)
            assert refused.returncode == 2
            line = refused.stderr.splitlines()[-1]
            assert "which goes out through proxy paris, and never otherwise" in line
        assert visited(site) == {"paris"}


def test_an_account_without_profiles_has_one_proxy_here_and_in_a_run(
    cli, database, queue, site, berlin_and_paris
):
    store.add_account(database, "a1", by="me")
    jobs = [queue.enqueue("visit", {"url": URL, "manifest": {"account": "a1"}}) for _ in "ab"]

    for job in jobs:
        assert cli("try", "visit", "--job", str(job)).returncode == 0

    assert len(visited(site)) == 1
    [other] = {"berlin", "paris"} - visited(site)
    refused = cli("try", "visit", "--job", str(jobs[0]), "--proxy", other)
    assert (refused.returncode, "belongs to account a1" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("proxy", "why"),
    [
        (None, "profile p1 says neither which proxy it uses"),
        ("oslo", "proxy oslo of profile p1 does not exist"),
    ],
)
def test_a_job_whose_profile_has_no_door_is_refused(
    cli, database, queue, site, berlin_and_paris, proxy, why
):
    store.add(database, [NewProfile("p1", proxy=proxy)], "me")
    job = queue.enqueue("visit", {"url": URL, "manifest": {"profile": "p1"}})

    for flags in ((), ("--direct",), ("--proxy", "berlin")):
        refused = cli("try", "visit", "--job", str(job), *flags)
        assert (refused.returncode, why in refused.stderr) == (2, True), refused.stderr
    assert visited(site) == set()


def test_a_job_of_a_profile_that_goes_out_directly_does_so_here(
    cli, database, queue, site, berlin_and_paris
):
    store.add(database, [NewProfile("p1", proxy="none")], "me")
    url = f"http://127.0.0.1:{site.port}/"
    job = queue.enqueue("visit", {"url": url, "manifest": {"profile": "p1"}})

    assert cli("try", "visit", "--job", str(job)).returncode == 0
    assert visited(site) == {None}


def test_a_payload_of_a_profile_keeps_to_its_door(cli, database, site, berlin_and_paris):
    store.add(database, [NewProfile("p1", account_id="a1", proxy="paris")], "me")

    def tried(*flags: str, **owner: str):
        return cli("try", "visit", "--payload", json.dumps({"url": URL, "manifest": owner}), *flags)

    done = tried(profile="p1")
    assert done.returncode == 0, done.stderr
    assert "the payload belongs to profile p1; here it runs in an ordinary browser" in done.stderr
    assert visited(site) == {"paris"}
    for refused, why in (
        (tried("--direct", profile="p1"), "and never otherwise; leave out --direct"),
        (tried("--proxy", "berlin", account="a1"), "leave out --proxy berlin"),
        (tried("--direct", profile="nobody"), "there is no profile nobody"),
        (tried(account="nobody"), "there is no account nobody"),
        (tried(proxy="berlin"), "proxy berlin needs a profile that has it"),
    ):
        assert (refused.returncode, why in refused.stderr) == (2, True), refused.stderr
    assert visited(site) == {"paris"}
    assert not database.run_statement("SELECT * FROM account_proxies")
