"""A payload's declared shape: what fits is given its types, what does not is named by field."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from worker import task
from worker.errors import PayloadError, SettingsError
from worker.tasks.params import fit, optional, shape_of
from worker.tasks.registry import task_of


@dataclass
class Address:
    city: str
    zip_code: int | None = None


@dataclass
class Order:
    sku: str
    count: int = 1
    price: float = 0.0
    is_gift: bool = False
    size: Literal["s", "m", "l"] = "m"
    tags: list[str] = field(default_factory=list)
    address: Address | None = None
    extras: dict[str, int] = field(default_factory=dict)


class Search(TypedDict):
    term: str
    pages: NotRequired[int]


def test_a_dataclass_gets_its_fields_and_its_defaults():
    assert fit({"sku": "N-1", "count": 3}, Order) == Order("N-1", 3)


def test_a_typed_dict_stays_a_dict():
    assert fit({"term": "lamp"}, Search) == {"term": "lamp"}
    assert fit({"term": "lamp", "pages": "2"}, Search) == {"term": "lamp", "pages": 2}


def test_shapes_nest():
    payload = {"sku": "N-1", "address": {"city": "Narvik", "zip_code": 8514}, "tags": ["a", "b"]}
    assert fit(payload, Order) == Order("N-1", tags=["a", "b"], address=Address("Narvik", 8514))


def test_the_texts_of_a_csv_file_become_what_is_declared():
    payload = {"sku": "17", "count": "3", "price": "1.5", "is_gift": "yes", "address": ""}
    assert fit(payload, Order) == Order("17", 3, 1.5, True, address=None)
    assert fit({"city": "Narvik", "zip_code": ""}, Address) == Address("Narvik")


def test_what_a_csv_file_leaves_empty_takes_the_default():
    empty = dict.fromkeys(("count", "price", "is_gift", "size", "tags", "extras"), "")
    assert fit({"sku": "17", **empty}, Order) == Order("17")
    assert fit({"term": "lamp", "pages": ""}, Search) == {"term": "lamp"}


def test_an_empty_text_is_meant_where_a_text_is_declared():
    @dataclass
    class Note:
        text: str | None = "none"
        number: int | None = 5

    Note.__annotations__ |= {"text": str | None, "number": int | None}
    assert fit({"text": "", "number": ""}, Note) == Note("", 5)


def test_what_has_no_default_may_not_be_left_empty():
    @dataclass
    class Bought:
        count: int

    Bought.__annotations__["count"] = int
    with pytest.raises(PayloadError, match=r"payload\.count: expected a whole number, got ''"):
        fit({"count": ""}, Bought)


def test_the_fields_that_may_be_missing_are_known():
    assert optional(Address) == {"zip_code"}
    assert optional(Search) == {"pages"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sku": 17}, "payload.sku: expected a text, got 17"),
        ({"sku": None}, "payload.sku: expected a text, got None"),
        ({"count": "many"}, "payload.count: expected a whole number, got 'many'"),
        ({"price": "nan"}, "payload.price: expected a number, got 'nan'"),
        ({"price": "1e999"}, "payload.price: expected a number, got '1e999'"),
        ({"count": 1.5}, "payload.count: expected a whole number, got 1.5"),
        ({"count": True}, "payload.count: expected a whole number, got True"),
        ({"price": "dear"}, "payload.price: expected a number, got 'dear'"),
        ({"is_gift": "perhaps"}, "payload.is_gift: expected true or false, got 'perhaps'"),
        ({"size": "xl"}, "payload.size: expected one of 's', 'm', 'l', got 'xl'"),
        ({"size": ["m"]}, "payload.size: expected one of"),
        ({"tags": "a"}, "payload.tags: expected a list, got 'a'"),
        ({"tags": ["a", 2]}, "payload.tags[1]: expected a text, got 2"),
        ({"extras": {"ribbon": "x"}}, "payload.extras.ribbon: expected a whole number"),
        ({"address": "Narvik"}, "payload.address: expected an object or null, got 'Narvik'"),
        ({"address": {}}, 'payload.address lacks "city" (a text)'),
        ({"address": {"city": 1}}, "payload.address.city: expected a text, got 1"),
        ({"colour": "red"}, 'payload has the unknown field "colour"; known are sku, count'),
        ({"tags": ["x"] * 900 + [1]}, "payload.tags[900]"),
        ({"count": "x" * 900}, "got '" + "x" * 59 + "…"),
    ],
)
def test_what_does_not_fit_is_named_by_its_field(changes, said):
    with pytest.raises(PayloadError) as raised:
        fit({"sku": "N-1", **changes}, Order)
    assert said in str(raised.value)
    assert len(str(raised.value)) < 200


def test_a_missing_field_is_named():
    with pytest.raises(PayloadError, match='payload lacks "sku"'):
        fit({}, Order)
    with pytest.raises(PayloadError, match='payload lacks "term"'):
        fit({"pages": 1}, Search)


def test_a_shape_that_json_cannot_fill_is_the_authors_mistake():
    @dataclass
    class Odd:
        when: bytes

    Odd.__annotations__["when"] = bytes
    with pytest.raises(SettingsError, match=r"payload\.when: a payload cannot hold"):
        fit({"when": "now"}, Odd)


def test_the_annotation_of_a_payload_is_its_shape():
    def typed(page: Unknown, payload: Order, job: Unknown) -> None:  # noqa: F821
        pass

    def free(page, payload: dict[str, Any], job) -> None:
        pass

    assert shape_of(typed) is Order
    assert shape_of(free) is None


def test_a_task_checks_by_params_or_by_annotation():
    declared = task("mine", params=Search)(lambda page, payload, job: None)

    assert task_of(declared).fit({"term": "lamp"}) == {"term": "lamp"}
    with pytest.raises(PayloadError, match="term"):
        task_of(declared).fit({})
    with pytest.raises(SettingsError, match="give a dataclass or a TypedDict"):
        task("mine", params=int)


@pytest.mark.parametrize("value", [["hunter2"], {"a": "hunter2"}, 72727272])
def test_a_complaint_does_not_repeat_the_value_of_a_secret(value):
    @dataclass
    class Login:
        password: str

    Login.__annotations__["password"] = str
    with pytest.raises(PayloadError, match=r"payload\.password: expected a text") as refused:
        fit({"password": value}, Login)
    assert not [part for part in ("hunter2", "7272") if part in str(refused.value)]


def test_what_the_payload_tells_the_pool_need_not_be_declared():
    @task("ordered")
    def ordered(page, payload: Order, job):
        pass

    told = {"manifest": {"profile": "p1"}, "traceparent": "00-…"}

    assert task_of(ordered).fit({"sku": "N-1", **told}) == Order("N-1")


def test_a_task_that_declares_it_gets_it():
    class Traced(TypedDict):
        traceparent: str

    @task("traced", params=Traced)
    def traced(page, payload, job):
        pass

    assert task_of(traced).fit({"traceparent": "00-…"}) == {"traceparent": "00-…"}
