"""What the first page tells of workers: memory, step, restarts, who is dead, what each came to."""

from __future__ import annotations

import re

import pytest

from tests.dashboard_site import made
from worker.profiles import store
from worker.profiles.states import State
from worker.profiles.store import NewProfile


@pytest.fixture
def own_site(server, tmp_path):
    with made(server, tmp_path) as site:
        yield site


def tiles(text):
    """The words of each worker's tile."""
    found = re.findall(r'<li class="(worker[^"]*)">(.*?)</li>', text, re.DOTALL)
    return [(kind, " ".join(re.sub(r"<[^>]+>", " ", inside).split())) for kind, inside in found]


def living(text):
    return [words for kind, words in tiles(text) if "dead" not in kind]


def test_a_tile_tells_job_step_age_memory_and_restarts(own_site):
    first, second = living(own_site.client().get("/").text)

    assert re.search(r"Worker 0: working .* of 60 75 price at shop.example.com", first)
    assert "step “opened”" in first
    assert "memory 412 MB" in first
    assert "1 restart" in first
    assert "memory –" in second
    assert "0 restarts" in second


def test_a_tile_turns_slow_by_the_limit_that_its_run_told(own_site):
    own_site.db.run_statement("UPDATE work_queue SET timeout_seconds = NULL WHERE id = 75")
    own_site.db.run_statement(
        "UPDATE runs SET pulse = JSON_SET(pulse, '$.workers[0].limit_seconds', 600.0, "
        "'$.workers[0].job_seconds', 500.0) WHERE id = 2"
    )
    own_site.forget()

    text = own_site.client().get("/").text

    assert re.search(r"Worker 0: slow 8 min 20 s of 600 ", living(text)[0])
    assert "f-warn" in text


def test_a_tile_says_why_the_worker_was_restarted(own_site):
    own_site.db.run_statement(
        "UPDATE workers SET ended_at = UTC_TIMESTAMP(6) - INTERVAL 31 MINUTE, "
        "ending = 'killed by SIGKILL, out of memory' WHERE id = 1"
    )
    own_site.db.run_statement("UPDATE runs SET pulse = REPLACE(pulse, '\"incarnation\": 1', "
                              "'\"incarnation\": 3') WHERE id = 2")  # fmt: skip
    own_site.forget()

    first, _ = living(own_site.client().get("/").text)

    assert "1 restart; before: killed by SIGKILL, out of memory" in first


def test_a_worker_that_died_in_a_living_run_is_red_with_the_reason(own_site):
    own_site.db.run_statement(
        "UPDATE workers SET ended_at = UTC_TIMESTAMP(6), ending = 'exited with code 3' WHERE id = 2"
    )
    own_site.db.run_statement("DELETE FROM runs WHERE id = 1")
    own_site.forget()

    text = own_site.client().get("/").text

    assert [
        words for kind, words in tiles(text) if "dead" in kind and "exited with code 3" in words
    ]
    assert "1 of 2 workers alive" in text


def test_workers_of_a_run_that_has_just_begun_are_starting(own_site):
    own_site.db.run_statement("DELETE FROM runs WHERE id = 1")
    own_site.db.run_statement("DELETE FROM workers")
    own_site.db.run_statement(
        "UPDATE runs SET started_at = UTC_TIMESTAMP(6), pulse = JSON_SET(pulse, "
        "'$.workers[0].phase', 'booting', '$.workers[1].phase', 'none')"
    )
    own_site.forget()
    pages = [own_site.client().get(path).text for path in ("/", "/workers")]
    assert all("2 workers" in text and "starting" in text for text in pages)
    assert not any("0 of 2" in text for text in pages)

    own_site.db.run_statement(
        "UPDATE runs SET pulse = JSON_SET(pulse, '$.workers[0].phase', 'idle')"
    )
    own_site.forget()
    pages = [own_site.client().get(path).text for path in ("/", "/workers")]
    assert "1 of 2 workers alive, 1 worker starting" in pages[0]
    assert "1 of 2 workers are alive, 1 starting." in pages[1]

    own_site.db.run_statement("UPDATE runs SET started_at = UTC_TIMESTAMP(6) - INTERVAL 2 MINUTE")
    own_site.forget()
    assert "1 of 2 workers alive<" in own_site.client().get("/").text


def test_a_worker_that_went_home_is_not_red(own_site):
    own_site.db.run_statement(
        "UPDATE workers SET ended_at = UTC_TIMESTAMP(6), ending = 'finished' WHERE id = 2"
    )
    own_site.forget()

    assert any("Worker 1: finished" in words for words in living(own_site.client().get("/").text))


@pytest.mark.parametrize(("wanted", "label"), [("1h", "1 h"), ("day", "Day"), ("week", "Week")])
def test_each_workers_share_is_told_for_hour_day_and_week(own_site, wanted, label):
    text = own_site.client().get(f"/?range={wanted}").text

    folded = text.partition('<details class="panel fold">')[2].partition("</details>")[0]
    assert f">{label}, 2 workers<" in folded
    rows = re.findall(r"<tr><th scope=\"row\".*?</tr>", folded, re.DOTALL)
    done = [int(re.search(r'<td class="num">(\d+)</td>', row)[1]) for row in rows]
    assert sum(done) == 60 if wanted != "1h" else 55 < sum(done) <= 60


def test_the_pace_is_drawn_to_where_it_leads(own_site):
    text = own_site.client().get("/?range=1h").text

    assert "if it goes on so" in text
    assert 'class="dash"' in text.partition('id="pace-t"')[2].partition("</section>")[0]


def test_a_tile_names_a_browser_elsewhere_and_links_to_where_it_can_be_watched(own_site):
    own_site.db.run_statement(
        "UPDATE runs SET pulse = JSON_SET(pulse, '$.workers[0].browser', 'wss://a:1/…', "
        "'$.workers[0].live_view', 'https://app.test/s', '$.workers[1].browser', 'ws://b', "
        "'$.workers[1].live_view', 'javascript:alert(1)') WHERE id = 2"
    )
    own_site.forget()

    text = own_site.client().get("/").text

    first, second = living(text)
    assert "browser wss://a:1/…, watch it there" in first
    assert second.endswith("browser ws://b")
    assert 'href="https://app.test/s" rel="noopener noreferrer"' in text
    assert "javascript:" not in text


def duties(text):
    """The rows of what waits for a person, as words; None where there is no such list."""
    _, found, rest = text.partition('aria-labelledby="todo-h"')
    rows = re.findall(r"<li>(.*?)</li>", rest.partition("</section>")[0], re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in rows] if found else None


def test_what_waits_for_a_person_leads_the_page(own_site):
    own_site.db.run_statement("DELETE FROM profiles")
    own_site.db.run_statement("DELETE FROM breakers")
    store.add(own_site.db, [NewProfile("shop-9", proxy="none")], "me")
    store.set_state(own_site.db, "shop-9", State.QUARANTINED, reason="a prompt", by="me")
    own_site.db.run_statement(
        "INSERT INTO work_queue (payload, profile_id) VALUES ('{}', 'shop-9'), ('{}', 'shop-9')"
    )
    own_site.forget()

    text = own_site.client().get("/").text

    half_done, *others = duties(text)
    assert "may be half done at" in half_done
    assert any(
        re.search(r"^2 .*profile shop-9 Quarantined: a prompt\. Since .* launcher\.py profiles "
                  r"clear shop-9 --reason …", row)
        for row in others
    ), others  # fmt: skip
    assert 'href="/profiles">profile shop-9<' in text
    # It comes first, and the verdict's reasons point to it.
    assert text.index('id="todo-h"') < text.index('id="sum-h"')
    assert f"{1 + len(others)} things wait; see below" in text


def test_a_long_list_is_cut_and_the_rest_is_counted(own_site):
    store.add(own_site.db, [NewProfile(f"odd-{n:02}", proxy="none") for n in range(20)], "me")
    own_site.db.run_statement("UPDATE profiles SET state = 'review_required' WHERE id LIKE 'odd-%'")
    own_site.forget()

    text = own_site.client().get("/").text

    things = int(re.search(r'id="todo-h">(\d+) things wait', text)[1])
    assert len(duties(text)) == 8
    assert f"And {things - 8} more: <code>launcher.py todo</code>" in text


def test_where_nobody_is_needed_there_is_no_such_list(own_site):
    for table in ("profiles", "breakers", "proxies"):
        own_site.db.run_statement(f"DELETE FROM {table}")
    own_site.db.run_statement("DELETE FROM work_queue WHERE irreversible_step IS NOT NULL")
    own_site.db.run_statement(
        "INSERT INTO control VALUES ('paused', 'a look', 'mara', UTC_TIMESTAMP(6))"
    )
    own_site.forget()

    text = own_site.client().get("/").text

    # Of the pause every page tells by itself.
    assert duties(text) is None
    assert "by mara" in text


def rows(text, heading):
    """The rows of a list, as words."""
    _, _, rest = text.partition(f'aria-labelledby="{heading}"')
    found = re.findall(r"<li>(.*?)</li>", rest.partition("</section>")[0], re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in found]


def test_a_worker_that_is_started_again_says_so_with_the_reason(own_site):
    own_site.db.run_statement(
        "UPDATE workers SET ended_at = UTC_TIMESTAMP(6), ending = 'killed by SIGKILL' WHERE id = 2"
    )
    own_site.db.run_statement(
        "UPDATE runs SET pulse = JSON_SET(pulse, '$.workers[1].incarnation', 0, "
        "'$.workers[1].phase', 'booting') WHERE id = 2"
    )
    own_site.forget()

    _, second = living(own_site.client().get("/").text)

    assert second.startswith(
        "Worker 1: restarting Before: killed by SIGKILL. A new browser is starting."
    )


def test_the_site_that_is_left_alone_is_named_beside_the_verdict(own_site):
    client = own_site.client()
    assert "One site is left alone, portal.example.org; Nightshift looks again" in (
        client.get("/").text
    )

    own_site.db.run_statement("UPDATE runs SET ended_at = UTC_TIMESTAMP(6)")
    own_site.forget()

    # Without a run nobody looks.
    assert "left alone" not in client.get("/").text


def test_a_site_that_is_left_alone_says_since_when(own_site):
    (held,) = rows(own_site.client().get("/").text, "held")

    assert re.search(r"Since \d\d:\d\d\. Looks again by itself at \d\d:\d\d\.", held), held


def test_what_failed_says_what_is_proved_of_it(own_site):
    first = rows(own_site.client().get("/").text, "err")[0]

    assert first.endswith("The page has changed: last good at Sat 31 Jan 22:58:00.")


def test_a_limit_says_how_fast_it_goes_on(own_site):
    own_site.db.run_statement("DELETE FROM breakers")
    own_site.db.run_statement("DELETE FROM events WHERE kind = 'breaker'")
    own_site.db.run_statement("UPDATE limits SET name = 'site:portal.example.org', concurrent = 1")
    own_site.db.run_statement(
        'UPDATE work_queue SET payload = \'{"url": "https://portal.example.org/9"}\' '
        "WHERE id BETWEEN 51 AND 60 OR status = 'in_progress'"
    )
    own_site.forget()

    (held,) = [row for row in rows(own_site.client().get("/").text, "held") if "limited" in row]

    assert re.search(
        r"Goes on as soon as there is room\. 0\.7 a minute lately: the last is done at about "
        r"\d\d:\d\d\.", held,
    ), held  # fmt: skip


def test_the_legend_says_when_it_was(own_site):
    text = own_site.client().get("/").text
    legend = re.search(r'<ul class="legend">(.*?)</ul>', text, re.DOTALL)[1]

    assert re.search(r"paused \d\d:\d\d, 6 min", legend)
    assert re.search(r"database away \d\d:\d\d, 44 s", legend)
    assert re.search(r"breaker open since \d\d:\d\d", legend)
