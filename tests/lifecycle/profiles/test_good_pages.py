"""What an account sees is private: its pages are never kept as good ones, nor compared."""

from __future__ import annotations

import json

from tests.changing_site import until_kept


def test_no_page_of_an_account_is_kept(launch, queue, add, enqueue, tasks, site, errors_dir):
    add("p1")

    def visit():
        of_account, ordinary = enqueue("who_am_i", "p1"), queue.enqueue("visit", {"url": site})
        assert launch("--workers", 1, "--tasks", tasks).wait(60) == 0
        assert [queue.get(job)["status"] for job in (of_account, ordinary)] == ["done", "done"]
        return ordinary

    ordinary = until_kept(errors_dir, visit)
    kept = [json.loads(path.read_text()) for path in errors_dir.glob("good/*/*/good.json")]
    assert [facts["job_id"] for facts in kept] == [ordinary]
