"""Large requests stay readable: work and size of their pages are bounded."""

import html
import re
import time
from collections import Counter

import pytest

from agents.sdk.present import Fact, Present, with_present
from inbox.rules.presentations.code import MAX_ROWS
from inbox.rules.presentations.values import MAX_PARTS
from inbox.rules.schema import secrets
from inbox.rules.schema.schema_walk import json_nodes
from inbox.rules.schema.secrets import MASK, is_secret_name
from inbox.web.presentations.request_facts import MAX_SHOWN
from tests.support.steps import approve
from tests.support.web.pages import words
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


GROUPS = {
    "groups": {f"g{n}": {f"m{k}": f"text {k}" for k in range(97)} for n in range(100)},
    "lists": {f"g{n}": [f"{n}.{k}" for k in range(98)] for n in range(100)},
    "tables": {f"g{n}": [{"a": k, "b": f"{n}.{k}"} for k in range(30)] for n in range(100)},
    "secrets": {
        "password": "hunter2",
        **{f"g{n}": {f"m{k}": f"text {k}" for k in range(97)} for n in range(100)},
    },
}


@pytest.mark.parametrize("name", [*GROUPS, "rows"])
def test_page_shows_a_few_hundred_of_10_000_values(propose, reads_bob, name):  # noqa: F811
    page = reads_bob.open(propose("edit", GROUPS.get(name) or LARGE[name]))

    views = re.findall(r'<span class="value-(?:text|number)"', page)
    assert len(views) < MAX_SHOWN + MAX_PARTS
    assert "hunter2" not in page


@pytest.mark.parametrize("name", [*GROUPS, "rows"])
def test_each_key_of_a_request_is_looked_up_a_few_times(
    propose,  # noqa: F811
    reads_bob,
    monkeypatch,
    name,
):
    arguments = GROUPS.get(name) or LARGE[name]
    interrupt, counts = propose("edit", arguments), Counter()

    def count(key):
        counts[key] += 1
        return is_secret_name(key)

    monkeypatch.setattr(secrets, "is_secret_name", count)
    reads_bob.get(f"/interrupts/{interrupt.pk}/")

    keys = sum(isinstance(node, dict) and len(node) for _, node in json_nodes(arguments))
    walks = 3 if name == "secrets" else 2  # what is secret, its masks, and the masked copy
    assert counts.total() < walks * keys + 1_000


def test_rows_of_a_long_table_are_loaded_in_order(propose, reads_bob):  # noqa: F811
    page = reads_bob.open(propose("edit", LARGE["rows"]))

    rows = re.findall(r">(A\d+)<", page)
    while address := re.search(r'hx-get="([^"]+)"', page):
        page = reads_bob.get(html.unescape(address[1]), live=True).content.decode()
        rows += re.findall(r">(A\d+)<", page)

    assert rows == [f"A{number}" for number in range(3_300)]


@pytest.mark.parametrize("live", [True, False])
def test_later_value_has_its_secrets_masked(propose, reads_bob, live):  # noqa: F811
    groups = {f"g{n}": {f"m{k}": f"{n}.{k}" for k in range(97)} for n in range(9)}
    page = reads_bob.open(
        propose("edit", {**groups, "last": {"token": "hunter2", "city": "Lisbon"}})
    )
    address = html.unescape(re.findall(r'hx-get="([^"]+at=%2Flast)"', page)[0])

    value = reads_bob.get(address, live=live)

    assert "Lisbon" in words(value)
    assert MASK in words(value)
    assert "hunter2" not in words(value)


def test_later_value_of_a_decided_request_is_that_of_its_page(
    propose,  # noqa: F811
    reads_bob,
    world,
):
    arguments = {**GROUPS["lists"], "last": ["before"]}
    interrupt = propose("edit", arguments)
    address = re.findall(r'hx-get="([^"]+at=%2Flast)"', reads_bob.open(interrupt))[0]
    approve(interrupt, world.actor(world.bob), editedArgs={**arguments, "last": ["after"]})

    stale = words(reads_bob.get(html.unescape(address), live=True))
    page = reads_bob.open(interrupt)
    addresses = re.findall(r'hx-get="([^"]+at=%2Flast)"', page)
    values = [words(reads_bob.get(html.unescape(each), live=True)) for each in addresses]

    assert stale == "The request has changed. Reload the page."
    assert [*map(str.split, values)] == [["before"], ["after"]]


@pytest.mark.parametrize(
    "query", ["", "in=values", "in=values&at=%2Fnone", "in=x&at=%2Fa", "in=values&at=%2Fa&from=3"]
)
def test_address_of_no_value_is_not_found(propose, reads_bob, query):  # noqa: F811
    interrupt = propose("edit", {"a": 1})

    assert reads_bob.get(f"/interrupts/{interrupt.pk}/values?{query}").status_code == 404


def test_large_arguments_are_offered_no_grant(propose, reads_bob):  # noqa: F811
    assert 'id="grant"' in reads_bob.open(propose("edit", {"a": {"b": 1}}))
    assert 'id="grant"' not in reads_bob.open(propose("edit", GROUPS["lists"]))


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
