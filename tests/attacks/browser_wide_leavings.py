"""More pairs for `isolation_tasks`: what is kept beyond the page, by the browser as a whole."""

from __future__ import annotations


def clipboard_leaves(page, url):
    page.goto(url + "/copying")
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+C")
    assert _pasted(page, url)


def clipboard_finds(page, url):
    return _pasted(page, url)


def scripted_clipboard_leaves(page, url):
    page.goto(url + "/copying")
    # A click lets a page copy, whatever its permissions are.
    page.mouse.click(50, 50)
    page.wait_for_function("document.title == 'copied'")
    assert _pasted(page, url)


scripted_clipboard_finds = clipboard_finds


def _pasted(page, url):
    """What a page is given by a paste: as text, and as formatted text."""
    page.goto(url + "/pasting")
    for place in ("input", "div"):
        page.locator(place).focus()
        page.keyboard.press("Control+V")
    return [
        each
        for each in (page.locator("input").input_value(), page.locator("div").inner_html())
        if each
    ]


def client_hints_leaves(page, url):
    page.goto(url + "/hints-wanted")
    page.goto(url + "/hints")
    assert page.title() != "no hints"


def client_hints_finds(page, url):
    page.goto(url + "/hints")
    return [] if page.title() == "no hints" else [page.title()]


def hints_by_redirect_leaves(page, url):
    page.goto(url + "/hints-wanted-elsewhere")
    page.goto(url + "/hints")


hints_by_redirect_finds = client_hints_finds


def hints_by_tag_leaves(page, url):
    page.goto(url + "/hints-wanted-by-tag")
    page.goto(url + "/hints")


hints_by_tag_finds = client_hints_finds
