"""A sitemap file gives its entries in flat memory, whoever wrote it and however it is packed."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest

from worker.intake import sitemap_files
from worker.intake.sitemap_files import BadSitemap, Entry, read

HEAD = b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
URLS = (
    HEAD
    + b"""<url><loc> https://x.test/a?b=1&amp;c=2 </loc><lastmod>2026-01-31</lastmod>
    <image:image xmlns:image="http://image"><image:loc>https://x.test/i.png</image:loc>
    </image:image></url><!-- one more --><url><loc><![CDATA[https://x.test/b]]></loc></url></urlset>"""
)
ENTRIES = [Entry("url", "https://x.test/a?b=1&c=2", "2026-01-31"), Entry("url", "https://x.test/b")]
INDEX = b"""<sitemapindex><sitemap><loc>https://x.test/1.xml.gz</loc></sitemap></sitemapindex>"""


def repeated(part, times, before=b""):
    """Pack much of the same without ever holding it."""
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress(before)
    for _ in range(times):
        packed += packer.compress(part)
    return packed + packer.flush()


@pytest.mark.parametrize(
    "chunks",
    [
        [URLS],
        [bytes([each]) for each in URLS],
        [gzip.compress(URLS)],
        [bytes([each]) for each in gzip.compress(URLS)],
        [gzip.compress(URLS[:50]) + gzip.compress(URLS[50:])],
        [b"\xef\xbb\xbf\n".strip() + URLS],
        [URLS.decode().replace('"1.0"', '"1.0" encoding="utf-16"').encode("utf-16")],
    ],
    ids=["whole", "in bytes", "packed", "packed in bytes", "packed in parts", "BOM", "UTF-16"],
)
def test_the_entries_are_the_same_however_the_file_comes(chunks):
    assert list(read(chunks)) == ENTRIES


def test_an_index_names_sitemaps():
    assert list(read([INDEX])) == [Entry("sitemap", "https://x.test/1.xml.gz")]


def test_a_list_of_urls_is_a_sitemap_too():
    assert list(read([b"\xef\xbb\xbfhttps://x.test/a\r\n\n", b"https://x.te", b"st/b"])) == [
        Entry("url", "https://x.test/a"),
        Entry("url", "https://x.test/b"),
    ]


ENTITIES = b"""<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>
    <urlset><url><loc>&b;</loc></url></urlset>"""
FILE = b'<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><urlset><url><loc>&a;</loc></url>'


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (ENTITIES, "it has a DOCTYPE"),
        (FILE, "it has a DOCTYPE"),
        (b"<!doctype html><h1>Not found</h1>", "it is a web page"),
        (b"<HTML><h1>Not found</h1>", "it is a web page"),
        (b"<rss><channel/></rss>", "it begins with <rss>"),
        (b"{}", "is neither XML nor a list of URLs"),
        (URLS[:-9], "is not XML at line 3"),
        (b"<urlset>&a;</urlset>", "is not XML at line 1: undefined entity"),
        (b'<?xml version="1.0" encoding="klingon"?><urlset/>', "unknown encoding"),
        (gzip.compress(URLS)[:-20], "is packed, and ends too early"),
        (gzip.compress(URLS)[:50] + b"\xff" * 50, "cannot be unpacked"),
        (gzip.compress(gzip.compress(URLS)), "is neither XML nor a list of URLs"),
        (b"<urlset>" + b"<a>" * 30, "is nested too deeply"),
    ],
    ids=range(13),
)
def test_what_is_no_sitemap_is_refused_with_the_reason(content, why):
    with pytest.raises(BadSitemap, match=why):
        list(read([content]))


@pytest.mark.parametrize(
    ("part", "before", "why"),
    [
        (b"a" * 100_000, HEAD + b"<url><loc>", "has more than 5 MB"),
        (b"a" * 100_000, HEAD + b"<!-- ", "a tag or comment that does not end"),
        (b"a='1' " * 10_000, b"<urlset ", "a tag or comment that does not end"),
        (b" " * 100_000, b"", "is neither XML nor a list of URLs"),
        (b"h" * 100_000, b"", "is neither XML nor a list of URLs"),
        (b"<url><loc>https://x.test/a</loc></url>" * 2_000, HEAD, "has more than 5 MB"),
    ],
    ids=["text", "comment", "tag", "blanks", "line", "entries"],
)
def test_a_bomb_is_refused_before_it_takes_memory(part, before, why, monkeypatch):
    monkeypatch.setattr(sitemap_files, "MAX_BYTES", 5 << 20)
    packed = repeated(part, 200, before)
    tracemalloc.start()
    with pytest.raises(BadSitemap, match=why):
        for _ in read([packed]):
            pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 5_000_000


def test_of_a_text_without_end_the_beginning_is_kept():
    (entry,) = read([HEAD, b"<url><loc>", b"a" * 100_000, b"</loc></url></urlset>"])

    assert len(entry.loc) == 9000
