"""Large requests stay readable: work and size of their pages are bounded."""

import time

import pytest

from agents.sdk.present import Fact, Present, with_present
from inbox.rules.presentations.code import MAX_ROWS
from inbox.rules.presentations.values import MAX_PARTS
from tests.web.presentations.test_request_facts import propose  # noqa: F401 - a fixture

LARGE = {
    "values": {f"name{number}": number for number in range(9_990)},
    "rows": {"rows": [{"sku": f"A{number}", "count": number} for number in range(3_300)]},
    "text": {"body": "a long word " * 87_000},
    "lines": {"body": "line\n" * 90_000},
    "patch": {"patch": "@@ -1 +1 @@\n" + "-a\n+b\n" * 100_000},
    "code": {"sql": "SELECT * FROM t WHERE a = 'x' AND\n" * 25_000},
    "markdown": {"markdown": "# a\n\n* b\n" * 50_000},
    "before and after": {
        "file_path": "a.py",
        "old_string": "x = 1\n" * 50_000,
        "new_string": "x = 2\n" * 50_000,
    },
    "nested": {"list": [[number] * 3 for number in range(2_400)]},
}


#: Of HTML. A text of a megabyte stands on the page once.
MAX_CHARACTERS = 1_300_000


@pytest.mark.parametrize("name", LARGE)
def test_page_of_a_large_request_is_bounded(propose, reads_bob, name):  # noqa: F811
    page = reads_bob.open(propose("edit", LARGE[name]))

    assert len(page) < MAX_CHARACTERS
    assert page.count('class="slot') <= MAX_PARTS
    assert page.count("<tr") <= 2 * MAX_ROWS + MAX_PARTS


def test_slow_code_and_markdown_of_an_agent_do_not_block_the_page(propose, reads_bob):  # noqa: F811
    table = "|" + "a|" * 400 + "\n|" + "-|" * 400 + "\n" + "|\n" * 1_000
    slow = [
        *(Fact(f"code {number}", "\n" * 8_000 + str(number), type="code", language="java")
          for number in range(20)),
        *(Fact(f"table {number}", table, type="markdown") for number in range(20)),
    ]  # fmt: skip
    interrupt = propose("edit", {"a": 1}, metadata=with_present({}, Present(facts=slow)))
    begun = time.perf_counter()

    page = reads_bob.open(interrupt)

    assert "Approve" in page
    assert time.perf_counter() - begun < 15  # minutes without limits
