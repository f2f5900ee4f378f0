"""Users and tokens in their file."""

from __future__ import annotations

import pytest

from worker.dashboard.people import People, Role
from worker.errors import SettingsError, UsageError

PASSWORD = "correct horse battery"


@pytest.fixture
def people(tmp_path):
    return People(tmp_path / "state" / "dashboard.json")


def test_only_the_right_password_lets_in(people):
    people.set_user("mara", Role.OPERATOR, PASSWORD)

    assert people.check("mara", PASSWORD).may_act
    assert people.check("mara", PASSWORD + "!") is None
    assert people.check("nobody", PASSWORD) is None
    assert people.check("mara", "") is None


def test_the_stamp_of_a_user_changes_with_password_and_role(people):
    stamps = set()
    for role in (Role.OPERATOR, Role.VIEWER, Role.VIEWER):
        people.set_user("mara", role, PASSWORD)
        stamps.add(people.find("mara").stamp)
    with people._file.changed() as known:
        known["users"]["mara"]["role"] = "operator"
    stamps.add(people.find("mara").stamp)

    assert len(stamps) == 4


def test_a_viewer_may_not_act(people):
    people.set_user("vic", Role.VIEWER, PASSWORD)

    assert not people.check("vic", PASSWORD).may_act


def test_a_removed_user_is_gone_at_once_for_everybody_who_reads_the_file(people):
    other = People(people._file.path)
    people.set_user("mara", Role.OPERATOR, PASSWORD)
    assert other.find("mara") is not None

    people.remove_user("mara")

    assert other.find("mara") is None
    assert not other.has_users()


def test_the_file_is_private_and_one_that_is_not_is_refused(people):
    people.set_user("mara", Role.OPERATOR, PASSWORD)
    assert people._file.path.stat().st_mode & 0o777 == 0o600

    people._file.path.chmod(0o644)

    with pytest.raises(SettingsError, match="chmod 600"):
        people.has_users()


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "<b>", "a/b"])
def test_odd_names_are_refused(people, name):
    with pytest.raises(UsageError):
        people.set_user(name, Role.VIEWER, PASSWORD)


def test_a_short_password_is_refused(people):
    with pytest.raises(UsageError, match="10 characters"):
        people.set_user("mara", Role.VIEWER, "short")


def test_a_token_is_known_until_it_is_removed(people):
    token = people.add_token("grafana")

    assert people.name_of_token(token) == "grafana"
    assert people.name_of_token(token + "x") is None
    assert people.remove_token("grafana")
    assert people.name_of_token(token) is None


def test_the_key_of_sessions_stays(people):
    assert people.signing_key() == People(people._file.path).signing_key()
