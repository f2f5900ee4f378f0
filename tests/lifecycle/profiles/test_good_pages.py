"""What an account sees is private: its pages are never kept as good ones, nor compared."""

from __future__ import annotations


def test_no_page_of_an_account_is_kept(launch, queue, add, enqueue, tasks, site, errors_dir):
    add("p1")
    of_account = enqueue("who_am_i", "p1")
    ordinary = queue.enqueue("visit", {"url": site})
    assert launch("--workers", 1, "--tasks", tasks).wait(60) == 0

    assert [queue.get(job)["status"] for job in (of_account, ordinary)] == ["done", "done"]
    kept = [path.read_text() for path in errors_dir.glob("good/*/*/good.json")]
    assert len(kept) == 1
    assert f'"job_id": {ordinary},' in kept[0]
