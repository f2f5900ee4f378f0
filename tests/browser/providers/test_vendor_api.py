"""Credentials of a vendor's API: asked for, used once, renewed, and never repeated."""

from __future__ import annotations

from tests.browser.providers.conftest import failure_of
from tests.browser.vendor_dialects import Reply
from tests.browser.vendor_server import EMAIL, PASSWORD, TOKEN
from worker.browser.providers.provider import attempt


def test_multilogin_signs_in_once_and_again_when_its_token_has_expired(make_world, open_profile):
    world = make_world("multilogin")
    world.provider.close(open_profile(world), attempt)
    assert world.server.calls == ["sign_in", "start", "stop"]
    assert world.server.authorizations[1:] == [f"Bearer {TOKEN}"] * 2
    world.server.expired_tokens = 1

    assert open_profile(world).is_alive
    assert world.server.calls[3:] == ["start", "sign_in", "start"]


def test_wrong_credentials_are_refused_without_being_repeated(make_world, environment, session):
    environment["NIGHTSHIFT_MULTILOGIN_PASSWORD"] = "not-hunter2"
    error = failure_of(make_world("multilogin"), session)

    assert error.kind == "refused"
    assert "NIGHTSHIFT_MULTILOGIN_PASSWORD" in str(error)
    assert "not-hunter2" not in str(error)


def test_a_vendor_that_repeats_our_credentials_is_not_quoted_with_them(make_world, session):
    world = make_world("multilogin")
    said = f"no seat left for {EMAIL} / {PASSWORD}, Bearer {TOKEN}\nline two"
    world.server.refusal = Reply(402, {"status": {"message": said}})
    error = failure_of(world, session)

    assert error.kind == "refused"
    assert "no seat left for" in str(error)
    assert world.server.count("stop") == 0


def test_credentials_that_are_not_set_are_asked_for(make_world, environment, session):
    del environment["NIGHTSHIFT_MULTILOGIN_EMAIL"]
    error = failure_of(make_world("multilogin"), session)

    assert "NIGHTSHIFT_MULTILOGIN_EMAIL is not set" in str(error)


def test_a_password_of_one_letter_does_not_eat_the_words_of_a_message(
    make_world, environment, session
):
    environment["NIGHTSHIFT_MULTILOGIN_PASSWORD"] = "a"

    error = failure_of(make_world("multilogin"), session)

    assert "Multilogin X refuses the sign-in (HTTP 401); look at" in str(error)
