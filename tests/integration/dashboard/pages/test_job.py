"""The job's page shows what its attempt has left: answers, console, steps."""

from __future__ import annotations

import re


def table_of(text, heading):
    """The words of each row of the table under a heading."""
    rows = re.findall(
        r"<tr[^>]*>(.*?)</tr>", text.partition(heading)[2].partition("</table>")[0], re.DOTALL
    )
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in rows]


def test_the_answer_that_was_refused_the_console_and_the_steps_are_on_the_page(site):
    text = site.client().get("/jobs/61").text

    assert any("410" in row and "/api?v=1" in row for row in table_of(text, 'id="net"'))
    assert any("price widget v1" in row for row in table_of(text, 'id="con"'))
    assert "opened" in text
