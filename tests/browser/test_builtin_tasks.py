"""The built-in tasks against the demo site, run as a worker would run them."""

from __future__ import annotations

import pytest

from examples.demo_site import serve
from worker.browser.session import BrowserSession
from worker.errors import Fail, PayloadError, Retry, SiteFailed
from worker.execution.rehearsal import Rehearsal
from worker.tasks import registry
from worker.tasks.extract import parse_number


@pytest.fixture(scope="module")
def shop():
    with serve() as base_url:
        yield base_url


@pytest.fixture
def run(session: BrowserSession, tmp_path):
    """Run a built-in task in the one session of all tests; files go to `tmp_path`."""
    rehearsal = Rehearsal(session, tmp_path, timeout_seconds=30.0)
    tasks = registry.load()

    def run(name, payload):
        return rehearsal.run(tasks.get(name), payload, job_id=7)

    return run


def test_visit_tells_status_title_and_where_it_led(run, shop):
    result = run("visit", {"url": f"{shop}/products/1"})
    assert result["status"] == 200
    assert "Harbour Lantern" in result["title"]
    assert result["url"] == f"{shop}/products/1"


@pytest.mark.parametrize(("wait", "seconds"), [("90", 90.0), ("", None)])
def test_a_site_that_asks_to_be_left_alone_is_for_as_long(run, session, wait, seconds):
    """Retry-After counts on any answer that may pass, challenge or not."""
    page_for_job = session.page_for_job

    def answering(**options):
        page = page_for_job(**options)
        headers = {"Retry-After": wait} if wait else {}
        page.route("**/*", lambda route: route.fulfill(status=503, headers=headers, body="busy"))
        return page

    session.page_for_job = answering
    try:
        with pytest.raises(SiteFailed, match="HTTP 503") as failure:
            run("visit", {"url": "http://busy.example/"})
    finally:
        del session.page_for_job
    assert failure.value.after == seconds


def test_extract_takes_texts_numbers_attributes_and_lists(run, shop):
    fields = {
        "name": "h1",
        "price": {"selector": "[itemprop=price]", "number": True},
        "id": {"selector": "[data-product]", "attribute": "data-product"},
        "links": {"selector": "a", "attribute": "href", "all": True},
        "nowhere": {"selector": ".nowhere", "optional": True},
        "none": {"selector": ".nowhere", "all": True},
    }
    result = run("extract", {"url": f"{shop}/products/1", "fields": fields, "wait_for": "h1"})

    assert (result["name"], result["price"], result["id"]) == ("Harbour Lantern", 49.9, "1")
    assert "/products" in result["links"]
    assert (result["nowhere"], result["none"]) == (None, [])


def test_extract_names_the_field_that_the_page_lacks(run, shop):
    field = {"selector": ".nowhere", "timeout": 0.1}
    with pytest.raises(Fail, match=r'field "price": nothing on .* matches .nowhere'):
        run("extract", {"url": f"{shop}/products/1", "fields": {"price": field}})


@pytest.mark.parametrize(
    ("name", "payload", "said"),
    [
        ("extract", {"url": "http://a/"}, 'payload lacks "fields"'),
        ("extract", {"url": "http://a/", "fields": {"x": {}}}, 'payload.fields.x lacks "selector"'),
        ("screenshot", {"url": 1}, "payload.url: expected a text"),
        ("pdf", {"url": "ftp://a/"}, "payload.url: 'ftp://a/' is not one to visit"),
        ("steps", {"steps": "goto"}, "payload.steps: expected a list"),
        ("steps", {"steps": [{"dance": "x"}]}, r"payload.steps\[0\]: unknown action 'dance'"),
        ("steps", {"steps": [{}]}, r"payload.steps\[0\]: give one action"),
    ],
)
def test_a_payload_that_does_not_fit_is_named_by_its_field(run, name, payload, said):
    with pytest.raises(PayloadError, match=said):
        run(name, payload)


def test_a_missing_page_fails_and_an_ailing_server_is_tried_again(run, shop, site):
    with pytest.raises(Fail, match="HTTP 404"):
        run("visit", {"url": f"{shop}/nothing-here"})
    with pytest.raises(Retry, match="HTTP 503"):
        run("visit", {"url": site.url("/policy")})


def test_a_screenshot_is_kept_with_the_job(run, shop, tmp_path):
    result = run("screenshot", {"url": f"{shop}/status", "full_page": True})

    assert result["file"] == "7/screenshot.png"
    assert (tmp_path / "7" / "screenshot.png").read_bytes().startswith(b"\x89PNG")


def test_a_screenshot_can_be_of_one_element_and_have_a_name(run, shop, tmp_path):
    payload = {"url": f"{shop}/products/1", "selector": "h1", "name": "heading.png"}
    assert run("screenshot", payload)["file"] == "7/heading.png"
    assert (tmp_path / "7" / "heading.png").stat().st_size > 0


def test_a_file_never_leaves_the_folder_of_its_job(run, shop, tmp_path):
    with pytest.raises(Fail, match="an attachment cannot be named"):
        run("screenshot", {"url": shop, "name": "../../x.png"})
    assert not list(tmp_path.rglob("*.png"))


def test_a_page_becomes_a_pdf(run, shop, tmp_path):
    result = run("pdf", {"url": f"{shop}/products/1"})
    assert (tmp_path / result["file"]).read_bytes().startswith(b"%PDF")


def test_steps_log_in_and_bring_back_what_they_saw(run, shop):
    result = run(
        "steps",
        {
            "steps": [
                {"goto": f"{shop}/login"},
                {"fill": {"[name=username]": "demo", "[name=password]": "demo"}},
                {"click": "form button"},
                {"wait": "table"},
                {"expect": "h1"},
                {"extract": {"heading": "h1", "rows": {"selector": "tbody tr", "all": True}}},
            ]
        },
    )
    assert result["url"] == f"{shop}/orders"
    assert len(result["rows"]) > 3


def test_steps_select_and_wait_and_say_what_they_missed(run):
    page = "data:text/html,<select><option>a<option>b</select><output hidden>x</output>"
    missed = {"expect": {"selector": "output", "timeout": 0.1}}
    steps = [{"goto": page}, {"select": {"select": "b"}}, {"wait": 0.01}, missed]
    with pytest.raises(Fail, match="expected output on data:"):
        run("steps", {"steps": steps})


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("€ 49.90", 49.9),
        ("1,234.50 USD", 1234.5),
        ("1.234,50 €", 1234.5),
        ("1 234,5", 1234.5),
        ("12,000 pieces", 12000.0),
        ("-3", -3.0),
        ("sold out", None),
        (None, None),
    ],
)
def test_numbers_are_read_as_people_write_them(text, number):
    assert parse_number(text) == number
