"""Places are filled in wherever they stand, and named when nothing is known for them."""

from __future__ import annotations

import pytest

from worker.browser.providers.placeholders import NotSet, filled, filled_json, names_in, quoted


def test_texts_are_filled_in_at_any_depth_and_other_values_stay():
    body = {"ids": ["{id}"], "deep": {"on": True, "n": 0, "who": "{id}@{host}"}}

    assert filled_json(body, {"id": "p-1", "host": "h"}) == {
        "ids": ["p-1"],
        "deep": {"on": True, "n": 0, "who": "p-1@h"},
    }
    assert names_in(body) == {"id", "host"}


def test_a_value_is_filled_in_as_it_is_and_never_filled_in_itself():
    assert filled("/p/{id}", {"id": "{token}/../x y", "token": "t"}, quoted) == (
        "/p/%7Btoken%7D%2F..%2Fx%20y"
    )


def test_what_is_not_known_is_named():
    with pytest.raises(NotSet, match="folder_id"):
        filled("/f/{folder_id}", {})
