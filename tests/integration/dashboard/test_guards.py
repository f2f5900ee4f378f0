"""Every request passes the guards: host, session, role, form; answers carry their headers."""

from __future__ import annotations

import re

import pytest

from tests.dashboard_site import PASSWORD, made, send, token
from worker.dashboard.people import Role

PAGES = ["/", "/live", "/errors", "/jobs", "/jobs/1", "/queues", "/queues/batches",
         "/workers", "/runs/2", "/timeline",
         "/profiles", "/limits", "/reports", "/audit", "/jobs/61/attempts/1/compare"]  # fmt: skip
EVIDENCE = ["screenshot", "everything.zip"]


@pytest.mark.parametrize("page", [*PAGES, *(f"/jobs/61/attempts/1/{name}" for name in EVIDENCE)])
def test_a_page_is_shown_only_to_who_has_signed_in(guarded_site, page):
    assert guarded_site.client().get(page).location == "/sign-in"
    assert guarded_site.client("vic").get(page).status_code == 200


def test_without_users_this_machine_may_do_everything(site):
    assert site.client().get("/").status_code == 200


def test_every_action_is_refused_to_a_viewer(guarded_site):
    client = guarded_site.client("vic")
    secret = token(client)
    actions = [
        rule
        for rule in guarded_site.app.url_map.iter_rules()
        if "POST" in rule.methods and not rule.endpoint.startswith("sign_in.")
    ]

    for rule in actions:
        path = re.sub(r"<[^>]+>", "1", rule.rule)
        answer = client.post(path, data={"form_token": secret})
        assert (rule.endpoint, answer.status_code) == (rule.endpoint, 403)
        assert guarded_site.app.view_functions[rule.endpoint].is_for_operators

    assert len(actions) >= 20
    assert guarded_site.db.run_statement("SELECT * FROM audit") == []


def test_a_form_without_the_sessions_secret_is_refused(site):
    client = site.client()
    client.get("/")

    for secret in ("", "guess"):
        assert client.post("/pause", data={"form_token": secret}).status_code == 403
    assert site.db.run_statement("SELECT * FROM control") == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
    ids=str,
)
def test_a_form_from_another_site_is_refused_even_with_the_secret(site, headers):
    client = site.client()

    answer = client.post("/pause", data={"form_token": token(client)}, headers=headers)

    assert answer.status_code == 403
    assert site.db.run_statement("SELECT * FROM control") == []


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil", ""])
def test_another_name_is_refused(site, host):
    assert site.client().get("/", headers={"Host": host}).status_code == 400


@pytest.mark.parametrize("host", ["localhost", "localhost:8642", "127.0.0.1:8642", "[::1]:8642"])
def test_its_own_names_are_served(site, host):
    assert site.client().get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("page", [*PAGES, "/sign-in", "/nowhere"])
def test_a_page_keeps_to_itself(site, page):
    headers = site.client().get(page).headers

    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"


def test_the_session_is_kept_from_scripts_and_other_sites(guarded_site):
    client = guarded_site.app.test_client()
    secret = token(client, "/sign-in")
    fields = {"name": "mara", "password": "correct horse battery", "form_token": secret}

    cookie = client.post("/sign-in", data=fields).headers["Set-Cookie"]

    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


def copied(client):
    """Give somebody else a copy of a browser's cookie."""
    other = client.application.test_client()
    other.environ_base["HTTP_HOST"] = "localhost"
    other.set_cookie("nightshift", client.get_cookie("nightshift").value)
    return other


def test_signing_out_ends_every_copy_of_the_session(guarded_site):
    client, elsewhere = guarded_site.client("vic"), guarded_site.client("vic")
    copy = copied(client)
    assert copy.get("/audit").status_code == 200

    answer = client.post("/sign-out", data={"form_token": token(client, "/audit")})

    assert answer.location == "/sign-in"
    assert copy.get("/audit").location == "/sign-in"
    assert client.get("/audit").location == "/sign-in"
    assert elsewhere.get("/audit").status_code == 200


@pytest.mark.parametrize("change", ["password", "role", "removal"])
def test_a_user_who_has_changed_has_no_open_session(guarded_site, change):
    client = guarded_site.client("vic")
    assert client.get("/audit").status_code == 200

    if change == "removal":
        guarded_site.people.remove_user("vic")
    elif change == "role":
        guarded_site.people.set_user("vic", Role.OPERATOR, PASSWORD)
    else:
        guarded_site.people.set_user("vic", Role.VIEWER, "another password")

    assert client.get("/audit").location == "/sign-in"
    guarded_site.add_people()
    assert client.get("/audit").location == "/sign-in"


def test_a_shared_dashboard_whose_last_user_is_removed_is_open_to_nobody(server, tmp_path):
    with made(server, tmp_path, is_shared=True) as site:
        site.people.set_user("mara", Role.OPERATOR, PASSWORD)
        client = site.client("mara")
        assert client.get("/audit").status_code == 200

        site.people.remove_user("mara")

        assert client.get("/audit").location == "/sign-in"
        assert site.client().get("/").location == "/sign-in"
        assert send(site.client(), "/sign-in", name="mara", password=PASSWORD).status_code == 403


def test_a_page_that_is_unchanged_answers_304(site):
    client = site.client()
    first = client.get("/audit")

    again = client.get("/audit", headers={"If-None-Match": first.headers["ETag"]})

    assert (again.status_code, again.data) == (304, b"")


def test_a_page_that_has_changed_is_sent_again(site):
    client = site.client()
    first = client.get("/audit")

    send(client, "/limits/clear", key="site:nobody.example")

    again = client.get("/audit", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 200


def test_a_form_leads_back_to_pages_of_ours_only(site):
    for back in ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:1"):
        answer = send(site.client(), "/limits/clear", key="site:nobody.example", back=back)
        assert answer.location == "/limits"
    kept = send(site.client(), "/limits/clear", key="site:x.example", back="/limits?all=1")
    assert kept.location == "/limits?all=1"
