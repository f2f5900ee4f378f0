"""Nobody gets where they may not: other sites, viewers, guessers, paths, tokens."""

from __future__ import annotations

import hashlib
import io
import json
import re
import threading
import zipfile

import httpx
import pytest

from tests.dashboard_site import PASSWORD, made, send, served, token


def test_another_sites_form_changes_nothing(hostile_site, browser, tmp_path):
    (tmp_path / "evil.html").write_text(
        f"<form method=post action='{hostile_site.url}/pause'></form>"
        "<script>document.forms[0].submit()</script>"
    )
    page = browser.new_page()

    page.goto(f"{hostile_site.url}/")
    with page.expect_response("**/pause") as caught:
        page.goto((tmp_path / "evil.html").as_uri())

    assert caught.value.status == 403
    assert hostile_site.db.run_statement("SELECT * FROM control") == []
    page.close()


@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
                {"Origin": "https://evil.example"}], ids=str,
)  # fmt: skip
def test_a_stolen_secret_is_of_no_use_to_another_site(hostile_site, headers):
    client = hostile_site.client()

    answer = client.post("/pause", data={"form_token": token(client)}, headers=headers)

    assert answer.status_code == 403
    assert hostile_site.db.run_statement("SELECT * FROM control") == []


@pytest.mark.parametrize("secret", ["", "guess"])
def test_a_form_of_ours_without_the_sessions_secret_changes_nothing(hostile_site, secret):
    client = hostile_site.client()
    client.get("/")
    own = {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"}

    assert client.post("/pause", data={"form_token": secret}, headers=own).status_code == 403
    assert hostile_site.db.run_statement("SELECT * FROM control") == []


@pytest.mark.parametrize(
    "name", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example"]
)
def test_a_name_that_was_made_to_lead_here_gets_no_page(hostile_site, name):
    answer = hostile_site.client().get("/jobs/61", headers={"Host": name})

    assert answer.status_code == 400
    assert "Job 61" not in answer.text


def test_a_viewer_sees_no_button_and_can_use_none(guarded_site):
    client = guarded_site.client("vic")

    assert (
        'method="post"'
        not in client.get("/errors")
        .text.replace("/sign-out", "", 1)
        .partition("<main")[2]
        .partition("<footer")[0]
    )
    assert send(client, "/errors/3f9a1c2e00000001/retry", how="all").status_code == 403
    assert send(client, "/pause").status_code == 403
    assert guarded_site.db.run_statement("SELECT * FROM audit") == []


def test_a_forged_session_is_nobody(guarded_site):
    client = guarded_site.app.test_client()
    client.set_cookie("nightshift", "eyJ1c2VyIjoibWFyYSJ9.aaaa.bbbb")

    assert client.get("/").location == "/sign-in"


def test_a_session_without_the_passwords_stamp_is_nobody(guarded_site):
    client = guarded_site.app.test_client()
    with client.session_transaction() as session:
        session["user"] = "mara"

    assert client.get("/").location == "/sign-in"


def test_guessing_a_password_is_slowed_down(server, tmp_path):
    with made(server, tmp_path) as site:
        site.add_people()
        client = site.app.test_client()
        secret = token(client, "/sign-in")

        def guess(password):
            fields = {"name": "mara", "password": password, "form_token": secret}
            return client.post("/sign-in", data=fields)

        assert [guess("wrong password").status_code for _ in range(6)] == [403] * 5 + [429]
        refused = guess(PASSWORD)
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) > 30


def test_guesses_at_once_do_not_get_around_it(server, tmp_path):
    with made(server, tmp_path) as site:
        site.add_people()
        answers = []

        def guess(number):
            client = site.app.test_client()
            fields = {"name": "mara", "password": f"guess number {number}"}
            fields["form_token"] = token(client, "/sign-in")
            answers.append(client.post("/sign-in", data=fields).status_code)

        threads = [threading.Thread(target=guess, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert answers.count(403) <= 5
        assert answers.count(429) >= 7


def guesser(site):
    """Guess with a name, over a connection of this machine, with headers of one's own."""

    def guess(name, password=PASSWORD[::-1], **headers):
        with httpx.Client(base_url=site.url) as client:
            page = client.get("/sign-in").text
            secret = re.search(r'name="form_token" value="([^"]+)"', page)[1]
            fields = {"name": name, "password": password, "form_token": secret}
            return client.post("/sign-in", data=fields, headers=headers).status_code

    return guess


def from_(*addresses):
    return {"X-Forwarded-For": ", ".join(addresses)}


def test_behind_a_trusted_proxy_one_guesser_does_not_lock_out_the_others(server, tmp_path):
    with made(server, tmp_path, trusted_proxy="127.0.0.1") as site, served(site):
        site.add_people()
        guess = guesser(site)

        # What the guesser says of itself stands left of what the proxy adds.
        tries = [guess(f"name-{n}", **from_(f"198.51.100.{n}", "203.0.113.9")) for n in range(6)]

        assert tries == [403] * 5 + [429]
        assert guess("mara", PASSWORD, **from_("203.0.113.9")) == 429
        assert guess("mara", PASSWORD, **from_("192.0.2.4")) == 303


def test_many_addresses_do_not_help_to_guess_one_password(server, tmp_path):
    with made(server, tmp_path, trusted_proxy="127.0.0.1") as site, served(site):
        site.add_people()
        guess = guesser(site)

        assert [guess("mara", **from_(f"203.0.113.{n}")) for n in range(6)] == [403] * 5 + [429]
        assert guess("mara", PASSWORD, **from_("192.0.2.4")) == 429
        assert guess("vic", PASSWORD, **from_("192.0.2.4")) == 303


@pytest.mark.parametrize("trusted", ["", "192.0.2.1"])
def test_nobody_but_the_trusted_proxy_says_on_whose_behalf_it_asks(server, tmp_path, trusted):
    with made(server, tmp_path, trusted_proxy=trusted) as site, served(site):
        site.add_people()
        guess = guesser(site)

        tries = [guess(f"name-{n}", **from_(f"203.0.113.{n}")) for n in range(6)]

        assert tries == [403] * 5 + [429]


PATHS = [
    "/jobs/61/attempts/1/../../../../etc/passwd",
    "/jobs/61/attempts/1/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/jobs/61/attempts/1/screenshot.png",
    "/jobs/61/attempts/1/..",
    "/jobs/61/attempts/..%2f../everything.zip",
    "/jobs/61/attempts/1/everything.zip/../../../../etc/passwd",
    "/jobs/../../etc/passwd",
    "/reports/..%2f..%2fetc%2fpasswd",
    "/reports/%2fetc%2fpasswd",
    "/static/..%2f..%2fpeople.py",
]


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leads_out(hostile_site, path):
    answer = hostile_site.client().get(path)

    assert answer.status_code in (400, 404)
    assert b"root:" not in answer.data


@pytest.mark.parametrize("name", ["../secret.html", "..%2fsecret.html", "link.html", "notes.txt"])
def test_only_what_is_listed_is_sent_as_a_report(server, tmp_path, name):
    folder = tmp_path / "reports"
    folder.mkdir()
    (tmp_path / "secret.html").write_text("the secret itself")
    (folder / "notes.txt").write_text("the secret itself")
    (folder / "link.html").symlink_to(tmp_path / "secret.html")
    with made(server, tmp_path, reports_dir=folder) as site:
        answer = site.client().get(f"/reports/{name}")

    assert answer.status_code in (400, 404)
    assert "the secret itself" not in answer.text


@pytest.mark.parametrize("place", ["../../etc", "/etc", "61/../../..", "62/1", "61/1/..", "61"])
def test_a_row_that_names_another_place_shows_nothing(server, tmp_path, place):
    with made(server, tmp_path) as site:
        (tmp_path / "screenshot.png").write_bytes(b"secret")
        site.db.run_statement(
            "UPDATE job_attempts SET evidence = %(place)s WHERE job_id = 61", {"place": place}
        )

        for name in ("screenshot", "everything.zip", "compare"):
            assert site.client().get(f"/jobs/61/attempts/1/{name}").status_code == 404
        assert site.client().get("/jobs/61").status_code == 200


def test_a_link_in_the_evidence_leads_nowhere(server, tmp_path):
    with made(server, tmp_path) as site:
        secret = tmp_path / "secret"
        secret.write_text("the secret itself")
        console = tmp_path / "errors" / "61" / "1" / "console.log"
        console.unlink()
        console.symlink_to(secret)

        assert site.client().get("/jobs/61/attempts/1/console").status_code == 404
        assert "the secret itself" not in site.client().get("/jobs/61").text
        packed = site.client().get("/jobs/61/attempts/1/everything.zip").data
        with zipfile.ZipFile(io.BytesIO(packed)) as found:
            assert not [name for name in found.namelist() if "console" in name]


def test_the_file_of_people_holds_no_password_and_is_private(guarded_site):
    path = guarded_site.config.users_file
    made_token = guarded_site.people.add_token("grafana")

    text = path.read_text()

    assert PASSWORD not in text
    assert made_token not in text
    assert hashlib.sha256(made_token.encode()).hexdigest() in text
    assert path.stat().st_mode & 0o077 == 0


def test_the_api_wants_a_token_and_never_acts(guarded_site):
    client = guarded_site.app.test_client()
    good = {"Authorization": f"Bearer {guarded_site.people.add_token('reader')}"}

    assert client.get("/api/v1/status").status_code == 401
    assert client.get("/api/v1/status", headers={"Authorization": "Bearer ns_x"}).status_code == 401
    assert json.loads(client.get("/api/v1/status", headers=good).text)["version"] == 1
    assert client.post("/api/v1/status", headers=good).status_code in (403, 405)
    assert client.get("/errors", headers=good).location == "/sign-in"
    assert client.post("/pause", headers=good).status_code in (302, 403)


@pytest.mark.parametrize(
    "page", ["/", "/errors", "/jobs/61", "/jobs?state=error", "/profiles", "/limits",
             "/api/v1/jobs/61", "/api/v1/status", "/api/v1/events"],
)  # fmt: skip
def test_no_secret_is_on_any_page(hostile_site, page):
    text = hostile_site.client().get(page).text

    for secret in ("hunter2-secret", "endpoint-secret", "proxy-secret"):
        assert secret not in text
