"""A walk through a sitemap: its index files, its own host and others, what changed since."""

from __future__ import annotations

import io
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from worker.errors import UsageError
from worker.intake import sitemaps
from worker.intake.sitemap_fetch import Fetched
from worker.intake.sitemap_files import BadSitemap
from worker.intake.sitemaps import Sitemaps, last_change

ROOT = "https://x.test/sitemap.xml"


def urlset(*entries):
    return "<urlset>" + "".join(map(entry_of("url"), entries)) + "</urlset>"


def index(*entries):
    return "<sitemapindex>" + "".join(map(entry_of("sitemap"), entries)) + "</sitemapindex>"


def entry_of(kind):
    def written(entry):
        loc, lastmod = entry if isinstance(entry, tuple) else (entry, "")
        return f"<{kind}><loc>{loc}</loc><lastmod>{lastmod}</lastmod></{kind}>"

    return written


@pytest.fixture
def web():
    """What there is on the web, and where it redirects to."""
    return {}


@pytest.fixture
def asked():
    return []


@pytest.fixture
def walk(web, asked):
    """Walk through all records; give them by URL, and the walk."""

    @contextmanager
    def fetch(url, tries=3):
        asked.append(url)
        if url not in web:
            raise BadSitemap("cannot be had: HTTP 404")
        content = web[url]
        where = url
        if isinstance(content, tuple):
            where, content = content
        yield Fetched(where, io.BytesIO(content.encode()), False)

    def walk(since=None):
        found = Sitemaps(fetch, since)
        return [values for _, values in found.records(ROOT)], found

    return walk


def urls_of(found):
    return [values["url"] for values in found if isinstance(values, dict)]


def test_index_files_are_followed_in_their_order(walk, web):
    web[ROOT] = index("https://x.test/1.xml", "/2.xml")
    web["https://x.test/1.xml"] = urlset("https://x.test/a", "https://x.test/b")
    web["https://x.test/2.xml"] = urlset(("https://x.test/c", "2026-01-31"))

    found, told = walk()

    assert urls_of(found) == ["https://x.test/a", "https://x.test/b", "https://x.test/c"]
    assert found[-1] == {"url": "https://x.test/c", "lastmod": "2026-01-31"}
    assert (told.files, told.known_files, told.urls) == (3, 3, 3)


def test_index_files_that_name_each_other_are_read_once(walk, web, asked):
    web[ROOT] = index(ROOT, "https://x.test/1.xml", "https://x.test/1.xml")
    web["https://x.test/1.xml"] = index(ROOT, "https://x.test/2.xml", "https://x.test/1.xml")
    web["https://x.test/2.xml"] = urlset("https://x.test/a")

    found, _ = walk()

    assert urls_of(found) == ["https://x.test/a"]
    assert len(asked) == len(set(asked)) == 3


def test_an_index_without_end_comes_to_one(walk, web, asked, monkeypatch):
    for number in range(100):
        web[f"https://x.test/{number}"] = index(f"https://x.test/{number + 1}")
    web[ROOT] = index("https://x.test/0")
    found, _ = walk()
    assert found == ["https://x.test/4 is an index within an index within an index …"]
    assert len(asked) == 6

    monkeypatch.setattr(sitemaps, "MAX_FILES", 10)
    web[ROOT] = index(*(f"https://x.test/page{number}" for number in range(20)))
    found, _ = walk()
    assert f"{ROOT} leads to more than 10 files" in found


def test_a_file_that_cannot_be_read_is_a_bad_line_and_the_rest_goes_on(walk, web):
    web[ROOT] = index("https://x.test/gone.xml", "https://x.test/page", "https://x.test/1.xml")
    web["https://x.test/page"] = "<!doctype html>"
    web["https://x.test/1.xml"] = urlset("https://x.test/a", "ftp://x.test/b")

    found, _ = walk()

    assert found[0] == "https://x.test/gone.xml cannot be had: HTTP 404"
    assert found[1] == "https://x.test/page is no sitemap: it is a web page"
    assert urls_of(found) == ["https://x.test/a"]
    assert "'ftp://x.test/b' is not a URL" in found[3]


def test_a_sitemap_that_is_not_there_is_said_at_once(walk):
    with pytest.raises(UsageError, match=r"--sitemap https://x.test/sitemap.xml cannot be had"):
        walk()


def test_other_hosts_are_left_out_unless_their_robots_txt_names_the_sitemap(walk, web, asked):
    there = "https://friend.test/robots.txt"
    web[there] = f"User-agent: *\nDisallow:\nSitemap: {ROOT}\n"
    web["https://other.test/robots.txt"] = "Sitemap: https://other.test/sitemap.xml"
    web[ROOT] = urlset(
        *("https://x.test/a", "http://x.test:80/b", "https://friend.test/c"),
        *("https://other.test/d", "https://silent.test/e", "https://other.test/f"),
        *("https://x.test:8443/g", "https://x.test.evil.test/h"),
    )

    found, told = walk()

    assert urls_of(found) == ["https://x.test/a", "http://x.test:80/b", "https://friend.test/c"]
    assert told.left_out.other_hosts == 5
    assert told.left_out.hosts == {
        *("other.test", "silent.test", "x.test:8443", "x.test.evil.test"),
    }
    assert asked.count("https://other.test/robots.txt") == 1


def test_where_a_sitemap_really_is_it_speaks_for(walk, web):
    web[ROOT] = ("https://www.x.test/sitemap.xml", urlset("https://www.x.test/a"))

    found, _ = walk()

    assert urls_of(found) == ["https://www.x.test/a"]


def test_only_so_many_other_hosts_are_asked(walk, web, asked):
    web[ROOT] = urlset(*(f"https://host{number}.test/" for number in range(1000)))

    _, told = walk()

    assert told.left_out.other_hosts == 1000
    assert len(asked) <= 1 + sitemaps.MAX_HOSTS


def test_what_has_not_changed_since_is_left_out_and_what_does_not_say_is_taken(walk, web, asked):
    since = datetime(2026, 1, 31, 12, tzinfo=UTC)
    web[ROOT] = index(
        ("https://x.test/old.xml", "2026-01-30"), ("https://x.test/new.xml", "2026-02"), "/any.xml"
    )
    web["https://x.test/new.xml"] = urlset(
        ("https://x.test/day", "2026-01-31"),
        ("https://x.test/before", "2026-01-31T11:59:59Z"),
        ("https://x.test/then", "2026-01-31T13:00:00+01:00"),
        ("https://x.test/month", "2026-01"),
        ("https://x.test/year", "2025"),
    )
    web["https://x.test/any.xml"] = urlset("https://x.test/none", ("https://x.test/odd", "soon"))

    found, told = walk(since)

    names = [url.rpartition("/")[2] for url in urls_of(found)]
    assert names == ["day", "then", "month", "none", "odd"]
    assert (told.left_out.older, told.undated) == (2, 2)
    assert "https://x.test/old.xml" not in asked


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-13", "2026-02-30", "99999", "0000", "9999-12", "2026-01-31T25:00"]
)
def test_a_time_that_is_none_is_not_known(text):
    last_change(text)
    if text != "9999-12":
        assert last_change(text) is None
