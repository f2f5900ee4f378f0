"""Real runs through real proxies: a blocked job takes the next one, logins are seen nowhere."""

from __future__ import annotations

import base64
import json
import zipfile
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.lifecycle.conftest import run_command, url_of, wait_until
from tests.loopback import HttpProxy, Site
from worker.models import Outcome
from worker.profiles import store
from worker.proxies import blocks
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy

USER, WORD = "nightuser", "S3cretWord"
SECRETS = (USER, WORD, base64.b64encode(f"{USER}:{WORD}".encode()).decode())
SHOP = "http://shop.test/"
QUICK = ("--retry-delay", "1s", "--tasks")

TASKS = """
from worker import task

@task("look")
def look(page, payload, job):
    page.goto(payload["url"])
    page.wait_for_selector(payload["selector"], timeout=300)
"""


@pytest.fixture
def site():
    with closing(Site()) as site:
        yield site


@pytest.fixture
def via(site, database):
    """Start a proxy that wants a login, and add it under its name."""
    started = []

    def via(name: str) -> HttpProxy:
        proxy = HttpProxy(name, site.port, USER, WORD)
        started.append(proxy)
        proxies.add(database, Proxy.parse(proxy.url, name=name))
        return proxy

    yield via
    for proxy in started:
        proxy.close()


@pytest.fixture
def looking(tmp_path):
    path = tmp_path / "looking.py"
    path.write_text(TASKS, encoding="utf-8")
    return path


def outcomes(queue, job_id: int) -> list[str]:
    return [row["outcome"] for row in queue.history(job_id)]


def state_of(database, name: str) -> dict:
    return next(row for row in proxies.all_proxies(database) if row["name"] == name)


def test_a_blocked_job_is_done_through_the_next_proxy(launch, queue, database, site, via, looking):
    first, second = via("first"), via("second")
    site.refused_proxies = {"first"}
    job = queue.enqueue("visit", {"url": SHOP})

    run = launch("--workers", 1, *QUICK, looking)

    assert run.wait(60) == 0
    assert queue.get(job)["status"] == "done"
    assert outcomes(queue, job) == [Outcome.BLOCKED, Outcome.DONE]
    assert site.asked == {"first": 1, "second": 1}
    assert (first.refused_logins, second.refused_logins) == (0, 0)
    assert state_of(database, "first")["blocks"] == 1
    assert state_of(database, "first")["cooling_seconds"] == 0
    (cooling,) = blocks.cooling(database)
    assert (cooling["proxy_id"], cooling["site"]) == (
        state_of(database, "first")["id"],
        "shop.test",
    )
    assert 500 < cooling["cooling_seconds"] <= 600
    assert (
        f"proxy first (http://127.0.0.1:{first.port}) is left alone a while at shop" in run.stderr
    )


def test_evidence_names_the_proxy_and_no_login_is_to_be_found_anywhere(
    launch, queue, database, settings, site, via, looking, tmp_path
):
    via("first")
    via("second")
    site.refused_proxies = {"first"}
    job = queue.enqueue("look", {"url": SHOP, "selector": "#none"}, max_attempts=2)

    run = launch("--workers", 1, *QUICK, looking)
    arguments = set()

    def note_arguments() -> bool:
        for name in ("cmdline", "environ"):
            for path in Path("/proc").glob(f"[0-9]*/{name}"):
                # A process may end between the listing and the reading.
                with suppress(OSError):
                    arguments.add(path.read_text(errors="replace"))
        return not run.is_running

    wait_until(note_arguments, "the run ends", 60, every=0.2)
    assert run.wait() == 0

    # A block, then two tries through the other proxy, the second with a trace.
    assert outcomes(queue, job) == [Outcome.BLOCKED, Outcome.RETRY, Outcome.RETRY]
    folders = sorted((tmp_path / "errors" / str(job)).iterdir())
    labels = [json.loads((each / "error.json").read_text())["proxy"] for each in folders]
    ports = {row["name"]: row["port"] for row in proxies.all_proxies(database)}
    names = ("first", "second", "second")
    assert labels == [f"http://127.0.0.1:{ports[name]}" for name in names]
    assert any((each / "trace.zip").exists() for each in folders)
    run_cli = [
        run_command(tmp_path, *words, DATABASE_URL=url_of(settings))
        for words in (("show", job), ("show", job, "--json"), ("proxies", "list", "--json"))
    ]
    texts = [run.output, *arguments, *(done.stdout + done.stderr for done in run_cli)]
    assert all(done.returncode == 0 for done in run_cli)
    assert [secret for secret in SECRETS if any(secret in text for text in texts)] == []
    assert found_in_files(tmp_path) == []
    rows = database.run_statement("SELECT * FROM work_queue") + queue.history(job)
    assert [secret for secret in SECRETS if secret in repr(rows)] == []


def found_in_files(folder) -> list[tuple[str, str]]:
    """Look for a login in every file, and inside every archive."""
    found = []
    for path in [each for each in folder.rglob("*") if each.is_file()]:
        contents = [path.read_bytes()]
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                contents += [archive.read(name) for name in archive.namelist()]
        found += [
            (path.name, secret)
            for secret in SECRETS
            if any(secret.encode() in content for content in contents)
        ]
    return found


def test_without_proxies_a_blocked_job_comes_back_in_a_fresh_context(launch, queue, site, looking):
    site.first_refused = 1
    url = f"http://127.0.0.1:{site.port}/"
    job = queue.enqueue("visit", {"url": url})

    assert launch("--workers", 1, *QUICK, looking).wait(60) == 0
    assert outcomes(queue, job) == [Outcome.BLOCKED, Outcome.DONE]
    assert site.cookies == [None, None]


def test_a_dead_proxy_costs_no_attempt(launch, queue, database, site, via, looking, closed_port):
    proxies.add(database, Proxy("http", "127.0.0.1", closed_port, USER, WORD, name="dead"))
    via("alive")
    job = queue.enqueue("visit", {"url": SHOP}, max_attempts=1)

    run = launch("--workers", 1, *QUICK, looking)

    assert run.wait(60) == 0
    assert queue.get(job)["status"] == "done"
    assert queue.get(job)["attempts"] == 1
    back, done = queue.history(job)
    assert (back["outcome"], done["outcome"]) == (Outcome.HANDED_BACK, Outcome.DONE)
    assert back["reason"] == (
        f"proxy dead (http://127.0.0.1:{closed_port}) cannot be used: "
        "net::ERR_PROXY_CONNECTION_FAILED"
    )
    (cooling,) = database.run_statement("SELECT cooling_until FROM proxies WHERE name = 'dead'")
    rest = cooling["cooling_until"] - back["finished_at"]
    assert rest.total_seconds() == pytest.approx(60, abs=20)
    assert state_of(database, "dead")["blocks"] == 0


@pytest.mark.parametrize("url", [SHOP, "https://shop.test/"])
def test_a_refused_login_is_the_proxys_fault(launch, queue, database, site, via, looking, url):
    right = via("right")
    proxies.disable(database, "right")
    proxies.add(database, Proxy("http", "127.0.0.1", right.port, USER, "stale", name="stale"))
    job = queue.enqueue("visit", {"url": url}, max_attempts=1)

    # Over https the refusal is only known when the page's time is over.
    flags = ("--wait-retries", "5s", "--page-timeout", "8s")
    run = launch("--workers", 1, *flags, *QUICK, looking)

    assert run.wait(60) == 11
    assert (queue.get(job)["status"], queue.get(job)["attempts"]) == ("pending", 0)
    assert "proxy stale" in queue.history(job)[0]["reason"]
    assert site.asked == {}


def test_a_dead_site_behind_good_proxies_is_the_sites_fault(
    launch, queue, database, site, via, looking
):
    via("first")
    via("second")
    dead = [queue.enqueue("visit", {"url": "https://dead.test/"}, max_attempts=1) for _ in "123"]
    good = [queue.enqueue("visit", {"url": SHOP}) for _ in "123"]

    run = launch("--workers", 1, *QUICK, looking)

    assert run.wait(60) == 0
    assert {queue.get(job)["status"] for job in dead} == {"error"}
    assert {queue.get(job)["status"] for job in good} == {"done"}
    # One proxy was doubted once; the second one's failure showed who was to blame.
    cooling = [row["name"] for row in proxies.all_proxies(database) if row["cooling_seconds"] > 0]
    assert cooling == ["first"]


def test_nothing_goes_out_without_a_proxy_while_there_are_some(
    launch, queue, database, site, via, looking
):
    via("only")
    job = queue.enqueue("visit", {"url": f"http://127.0.0.1:{site.port}/"})
    proxies.disable(database, "only")

    run = launch("--workers", 1, *QUICK, looking)

    assert run.wait(60) == 11
    assert (queue.get(job)["status"], queue.get(job)["attempts"]) == ("pending", 0)
    assert site.asked == {}
    assert "the only proxy is disabled; enable or remove" in run.stdout

    proxies.enable(database, "only")
    assert launch("--workers", 1, *QUICK, looking).wait(60) == 0
    assert queue.get(job)["status"] == "done"
    assert site.asked == {"only": 1}


def test_a_proxy_disabled_during_a_run_is_left_within_seconds(
    launch, queue, database, site, via, looking
):
    via("first")
    queue.enqueue("visit", {"url": SHOP})
    run = launch("--workers", 1, "--follow", *QUICK, looking)
    wait_until(lambda: site.asked["first"] == 1, "the first visit", 40)

    via("second")
    proxies.disable(database, "first")

    def goes_through_the_second() -> bool:
        queue.enqueue("visit", {"url": SHOP})
        return site.asked["second"] > 0

    wait_until(goes_through_the_second, "the other proxy is used", 15, every=0.3)
    run.signal(15)
    assert run.wait(30) == 0
    assert set(site.asked) == {"first", "second"}


def test_an_account_is_seen_through_one_proxy_whatever_others_use(
    launch, queue, database, site, via, looking
):
    for name in ("first", "second", "third"):
        via(name)
    accounts = {}
    for number in range(12):
        account = f"account-{number % 3}"
        store.add_account(database, account, by="me")
        job = queue.enqueue("visit", {"url": f"{SHOP}?{account}"})
        accounts[job] = account
        database.run_statement(
            "UPDATE work_queue SET account_id = %(account)s WHERE id = %(id)s",
            {"account": account, "id": job},
        )
        queue.enqueue("visit", {"url": SHOP})

    assert launch("--workers", 2, *QUICK, looking).wait(60) == 0
    assert queue.counts()["done"] == 24
    # Ordinary jobs take turns as well, so accounts may share a proxy; none of them has two.
    seen = {pair for pair in site.queries if pair[1]}
    assert sorted(account for _, account in seen) == ["account-0", "account-1", "account-2"]
    assert None not in site.asked


def test_a_site_that_refuses_every_proxy_holds_up_no_other_site(
    launch, queue, database, site, via, looking
):
    via("first")
    via("second")
    site.refused_hosts = {"shop.test"}
    refused = [queue.enqueue("visit", {"url": SHOP}) for _ in range(6)]
    calm = [queue.enqueue("visit", {"url": "http://calm.test/"}) for _ in range(12)]

    run = launch("--workers", 1, "--wait-retries", "5s", *QUICK, looking)

    assert run.wait(60) == 11
    assert {queue.get(job)["status"] for job in calm} == {"done"}
    assert {queue.get(job)["status"] for job in refused} == {"pending"}
    # Each proxy was refused once; then no job was tried any more, nor claimed to be handed back.
    endings = [outcome for job in refused for outcome in outcomes(queue, job)]
    assert endings == [Outcome.BLOCKED] * 2
    assert None not in site.asked
    assert "all proxies cool down at shop.test after blocks" in run.stdout
