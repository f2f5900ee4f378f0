"""What a server is, by what it says of itself."""

from __future__ import annotations

import pytest

from worker.database.server_kind import Facts, kind_of

GROUP = {"group_replication_group_name": "6f749812-3e2c-4d69-af16-57686ae6ff0d"}
MARIADB = "10.11.19-MariaDB-0+deb12u1"


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        (Facts("8.0.39", "8.0.39"), "MySQL 8.0.39"),
        (Facts(MARIADB, f"5.5.5-{MARIADB}"), "MariaDB 10.11.19"),
        (
            Facts(
                MARIADB,
                variables={
                    "wsrep_on": "ON",
                    "wsrep_cluster_size": "3",
                    "wsrep_local_state_comment": "Synced",
                    "auto_increment_increment": "3",
                },
            ),
            "Galera (MariaDB 10.11.19), 3 members, this one Synced, ids grow by 3",
        ),
        (
            Facts("9.7.0", variables=GROUP | {"group_replication_single_primary_mode": "ON"}),
            "Group Replication (MySQL 9.7.0), one primary",
        ),
        (
            Facts("9.7.0", variables=GROUP | {"group_replication_single_primary_mode": "OFF"}),
            "Group Replication (MySQL 9.7.0), several primaries",
        ),
        (
            Facts(
                "9.7.0",
                variables={
                    "group_replication_group_name": "",
                    "group_replication_single_primary_mode": "ON",
                },
            ),
            "MySQL 9.7.0",
        ),
        (Facts("8.0.0"), "MySQL 8.0.0"),
        (Facts("10.6.0-MariaDB"), "MariaDB 10.6.0"),
        (Facts("source-distribution"), "MySQL source-distribution"),
        (Facts("8.0.39", "8.0.11", "(ProxySQL)"), "MySQL 8.0.39, ProxySQL in front"),
        (
            Facts("8.0.39", "8.0.36 2.1-maxscale"),
            "MySQL 8.0.39, a proxy in front, which calls itself 8.0.36 2.1-maxscale",
        ),
    ],
)
def test_a_server_is_named_with_what_matters(facts, told):
    kind = kind_of(facts)

    assert str(kind) == told
    assert kind.refusal is None


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("8.0.11-TiDB-v7.5.0", "TiDB"),
        ("8.0.30-Vitess", "Vitess"),
        ("5.7.44-48", "MySQL 5.7"),
        ("10.5.29-MariaDB", "MariaDB 10.5"),
        ("5.5.5-10.4.34-MariaDB", "MariaDB 10.4"),
    ],
)
def test_what_is_not_supported_is_refused_with_the_reason(version, name):
    kind = kind_of(Facts(version, version))

    assert kind.name.startswith(name)
    assert kind.refusal
