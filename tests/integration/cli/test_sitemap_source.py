"""`enqueue --sitemap`: all URLs of a site's sitemap become jobs."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial

import pytest

from tests.integration.cli.sitemap_site import SitemapSite
from tests.lifecycle.conftest import REPO, clean_environment, run_command, url_of
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy


@pytest.fixture
def cli(settings, database, tmp_path):
    return partial(run_command, tmp_path, "enqueue", DATABASE_URL=url_of(settings))


@pytest.fixture
def site():
    site = SitemapSite()
    yield site
    site.close()


@pytest.fixture
def jobs(mysql):
    """Read all jobs: payload and dedupe key, by id."""

    def jobs():
        # Another connection has written them since.
        mysql.commit()
        with mysql.cursor() as cursor:
            cursor.execute("SELECT payload, dedupe_key FROM work_queue ORDER BY id")
            return [(json.loads(payload), key) for payload, key in cursor.fetchall()]

    return jobs


def test_an_index_its_packed_files_and_a_redirect_become_jobs(cli, site, jobs):
    urls = [site.url(f"/p/{number}") for number in range(5)]
    files = [
        site.put_urls("/a.xml", urls[:2], Content_Type="text/plain"),
        site.put_urls("/b.xml.gz", urls[2:3], Content_Type="application/octet-stream"),
        site.put_urls("/c.xml", urls[3:4], Content_Encoding="gzip"),
        site.put("/moved.xml", b"", status=301, Location="/d.xml"),
    ]
    site.put_urls("/d.xml", urls[4:])
    site.fails["/a.xml"] = 2
    root = site.put_index("/sitemap.xml", files)

    done = cli("--sitemap", root)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("added 5 jobs for task visit: ids ")
    assert jobs() == [({"url": url}, None) for url in urls]


def test_what_is_left_out_is_counted_and_columns_are_chosen(cli, site, jobs):
    kept = site.url("/p/1")
    site.put_urls("/new.xml", [kept, site.url("/other", host="localhost")], "2026-01-31")
    site.put_urls("/old.xml", [site.url("/p/2")], "2020-01-31")
    site.put_urls("/any.xml", [site.url("/p/3")])
    files = [site.url(path) for path in ("/new.xml", "/old.xml", "/any.xml")]
    root = site.put_index("/sitemap.xml", files)

    done = cli(
        *("--sitemap", root, "--lastmod-since", "2025-01-01", "--dedupe", "{url}"),
        *("--map", "url=url", "--map", "changed=lastmod"),
    )

    assert done.returncode == 0, done.stderr
    assert jobs() == [
        ({"url": kept, "changed": "2026-01-31"}, kept),
        ({"url": site.url("/p/3"), "changed": ""}, site.url("/p/3")),
    ]
    assert f"left out 1 URL of other hosts (localhost:{site.port})" in done.stderr
    assert "left out 1 URL without a change since 2025-01-01" in done.stderr
    assert "1 URL without a lastmod: taken all the same" in done.stderr


def test_a_file_that_is_missing_lets_nothing_be_added_unless_it_is_skipped(cli, site, jobs):
    good = site.put_urls("/good.xml", [site.url("/p/1")])
    root = site.put_index("/sitemap.xml", [site.url("/gone.xml"), good])

    refused = cli("--sitemap", root)
    assert refused.returncode == 2
    assert "has 1 bad line; nothing was added" in refused.stderr
    assert "/gone.xml cannot be had: HTTP 404" in refused.stderr
    assert jobs() == []

    assert cli("--sitemap", root, "--skip-bad").returncode == 0
    assert jobs() == [({"url": site.url("/p/1")}, None)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sitemap", "ftp://a/"), "--sitemap: 'ftp://a/' is not a URL"),
        ((), "say what to add: give either SOURCE or --sitemap URL"),
        (("urls.txt", "--sitemap", "http://a/"), "give either SOURCE or --sitemap URL"),
        (("http://a/", "--lastmod-since", "7d"), "--lastmod-since is for --sitemap URL"),
        (("--sitemap", "http://a/", "--lastmod-since", "x"), "is neither a duration (7d) nor"),
        (("--sitemap", "http://a/", "--format", "csv"), "are for files, not for --sitemap"),
    ],
)
def test_what_cannot_be_meant_is_one_line(cli, arguments, said):
    done = cli(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_where_there_are_proxies_it_goes_out_through_one(cli, site, database, jobs):
    root = site.put_urls("/sitemap.xml", ["http://shop.test/p/1"])
    # The site is its own proxy: whoever asks it for another host's page has come by it.
    site.answers["http://shop.test/sitemap.xml"] = site.answers["/sitemap.xml"]
    proxies.add(database, Proxy("http", "127.0.0.1", site.port, name="berlin"))

    done = cli("--sitemap", "http://shop.test/sitemap.xml")

    assert done.returncode == 0, done.stderr
    assert jobs() == [({"url": "http://shop.test/p/1"}, None)]
    assert site.asked["http://shop.test/sitemap.xml"] == 1
    assert root


# A process's largest size counts that of the one it was forked from, and tests grow large: between
# the two stands a small one, which tells of its child on standard error.
MEASURED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def test_memory_stays_flat_however_many_urls_there_are(database, settings, site, tmp_path):
    urls = [site.url(f"/product/{number:06}/with-a-name") for number in range(45_000)]
    files = [site.put_urls(f"/{number}.xml.gz", urls) for number in range(6)]

    def kilobytes(root: str, jobs: str) -> int:
        enqueue = [sys.executable, "launcher.py", "enqueue", "--sitemap", root, "--dry-run"]
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, *enqueue],
            cwd=REPO,
            env=clean_environment(tmp_path, DATABASE_URL=url_of(settings)),
            capture_output=True,
            text=True,
            check=True,
        )
        assert f"would add {jobs} jobs" in done.stdout
        return int(done.stderr)

    one = kilobytes(site.put_index("/one.xml", files[:1]), "45,000")
    six = kilobytes(site.put_index("/six.xml", files), "270,000")

    # The URLs alone, kept in a list, would be 25 MB more.
    assert six - one < 8_000
