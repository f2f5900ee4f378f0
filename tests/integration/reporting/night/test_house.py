"""House-keeping says what a person would look up: refusals, why a profile rests, webhooks."""

from __future__ import annotations

from datetime import timedelta


def house(night, name):
    return next((item.text for item in night.house if item.name == name), None)


def test_house_keeping_says_why_a_profile_is_set_aside(database, told):
    database.run_statement(
        "INSERT INTO profiles (id, state, state_reason, state_since, created_at) VALUES "
        "('acme-07', 'review_required', 'the password has expired', UTC_TIMESTAMP(6), "
        "UTC_TIMESTAMP(6))"
    )

    assert house(told(), "Profiles") == (
        "1 of 1 set aside: acme-07 (review required: the password has expired)"
    )


def test_house_keeping_counts_what_sites_refused_through_proxies(database, invented, told):
    database.run_statement(
        "INSERT INTO proxies (name, scheme, host, port, added_at) VALUES "
        "('de-3', 'http', 'proxy.example.net', 8080, UTC_TIMESTAMP(6))"
    )
    assert house(told(), "Proxies") == "1 of 1 in use"
    middle = invented.start + (invented.end - invented.start) / 2
    for job, proxy, at in (
        (1, "de-3", middle), (2, "de-3", middle), (3, None, middle),
        (4, "de-3", invented.start - timedelta(days=1)),
    ):  # fmt: skip
        database.run_statement(
            "INSERT INTO job_attempts (job_id, fence, attempt, outcome, started_at, finished_at, "
            "used_proxy) VALUES (%(job)s, 900, 1, 'blocked', %(at)s, %(at)s, %(proxy)s)",
            {"job": job, "at": at, "proxy": proxy},
        )

    text = house(told(), "Proxies")

    assert text.startswith("1 of 1 in use, 2 attempts refused through them (0.")
    assert text.endswith(" % of all)")


def test_house_keeping_counts_webhooks_that_arrived_this_night(database, invented, told):
    for job, at in ((1, invented.start), (2, invented.start - timedelta(hours=1))):
        database.run_statement(
            "INSERT INTO outbox (event_id, event, job_id, fence, attempt, task, happened_at, url, "
            "delivered_at) VALUES (UUID(), 'job.done', %(job)s, 1, 1, 'visit', %(at)s, "
            "'https://a.example/', %(at)s)",
            {"job": job, "at": at},
        )

    assert house(told(), "Webhooks") == "1 delivered, 0 due"
