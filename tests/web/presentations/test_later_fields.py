"""Fields of a large request that its page loads on demand: what is not loaded is unchanged."""

import html
import json
import re
from itertools import islice

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.web.presentations.request_facts import MAX_HIDDEN_FIELDS, MAX_SHOWN
from tests.support.steps import open_interrupts
from tests.support.web.pages import decision_form, sent, words
from tests.web.presentations.test_large_requests import GROUPS as LARGE_GROUPS
from tests.web.presentations.test_request_facts import propose  # noqa: F401 - a fixture

GROUPS = LARGE_GROUPS["groups"]
SHAPES = {
    **{name: LARGE_GROUPS[name] for name in ("groups", "lists", "tables")},
    "long texts": {f"s{n}": f"{n} words of a text " * 600 for n in range(90)},
    "levels": {
        f"a{a}": {f"b{b}": {f"c{c}": [*range(a, a + 10)] for c in range(10)} for b in range(10)}
        for a in range(9)
    },
    "one text and groups": {"body": "word " * 10_000, **dict(islice(GROUPS.items(), 90))},
    "short and long": {**{f"n{n}": n for n in range(99)}, **dict(islice(GROUPS.items(), 99))},
}
#: The marks of fields that are not on the page.
LATER = re.compile(r'name="(args/[^"@]+)@later"')


def opened(page: str) -> str:
    """The ids of all folds of a page, as fields of a form."""
    ids = re.findall(r'name="opened" value="([^"]+)"', page)
    return "".join(f"&opened={each}" for each in ids)


def decide(reader, interrupt, page: str, action: str = "approve", **texts: str):
    """Send the form of a page, with other texts in some of its fields."""
    post = decision_form(page).post().copy()
    for name, text in texts.items():
        assert name.replace("__", "/") in post
        post[name.replace("__", "/")] = text
    return reader.post(interrupt, post, action + opened(page))


def press(reader, interrupt, page: str, button: str, *, live: bool = True) -> str:
    """Press a button that changes the form; returns the page."""
    post = decision_form(page).post()
    return reader.post(interrupt, post, f"&draft={button}", live=live).content.decode()


@pytest.mark.parametrize("name", SHAPES)
def test_page_of_10_000_values_has_a_bounded_number_of_fields(
    propose,  # noqa: F811
    reads_bob,
    name,
):
    small = propose("edit", {"a": {"b": 1}})
    interrupt = propose("edit", SHAPES[name])
    for each in (small, interrupt):  # the first visit of each stores that it was seen
        reads_bob.open(each)
    with CaptureQueriesContext(connection) as few:
        reads_bob.open(small)

    with CaptureQueriesContext(connection) as queries:
        page = reads_bob.open(interrupt)

    fields = re.findall(r'<(?:textarea|input(?! type="hidden"))[^>]* name="args/', page)
    scalars = sum(not isinstance(value, dict | list) for value in SHAPES[name].values())
    assert len(fields) <= MAX_HIDDEN_FIELDS + min(scalars, MAX_SHOWN)
    assert len(page) < 700_000
    assert len(queries) == len(few)


@pytest.mark.parametrize("name", ["groups", "long texts"])
def test_preview_of_an_edit_renders_the_changes_only(propose, reads_bob, name):  # noqa: F811
    interrupt = propose("edit", SHAPES[name])
    page = reads_bob.open(interrupt)
    key = LATER.findall(page)[-1]
    page = press(reads_bob, interrupt, page, f"edit:{key.removeprefix('args/')}")
    form = decision_form(page)
    field = next(n for n in form.post() if n.startswith(key) and "@" not in n)
    post = form.post().copy()
    post[field] = post[field].replace(re.search(r"\d", post[field])[0], "7777", 1)

    preview = reads_bob.post(interrupt, post, "&draft=changes", live=True).content.decode()

    assert "7777" in preview
    assert "Approve with " in preview
    assert 'id="answer"' not in preview
    assert preview.count("<") < 100


@pytest.mark.parametrize("name", ["levels", "short and long"])
def test_values_that_were_not_loaded_are_not_changed(propose, reads_bob, name):  # noqa: F811
    interrupt = propose("edit", SHAPES[name])

    decide(reads_bob, interrupt, reads_bob.open(interrupt))

    assert sent(interrupt) == {"approved": True}


@pytest.mark.parametrize("live", [True, False])
def test_edit_of_a_later_value_changes_that_value_only(propose, reads_bob, live):  # noqa: F811
    interrupt = propose("edit", GROUPS)
    page = press(reads_bob, interrupt, reads_bob.open(interrupt), "edit:g99", live=live)
    edited = {**GROUPS["g99"], "m5": "mine"}

    decide(reads_bob, interrupt, page, args__g99=json.dumps(edited))

    assert "args/g99" not in LATER.findall(page)
    assert "args/g98" in LATER.findall(page)
    assert re.search(r'<textarea[^>]* name="args/g99"[^>]* autofocus', page)
    assert sent(interrupt)["editedArgs"] == {**GROUPS, "g99": edited}


def test_edit_beside_later_values_leaves_them_unchanged(propose, reads_bob):  # noqa: F811
    interrupt = propose("edit", {"city": "Lisbon", **GROUPS, "last": {"password": "hunter2"}})
    page = reads_bob.open(interrupt)

    decide(reads_bob, interrupt, page, "approve&unseen=on", args__city="Porto")

    edited = {"city": "Porto", **GROUPS, "last": {"password": "hunter2"}}
    assert sent(interrupt)["editedArgs"] == edited


def test_later_values_are_in_the_json_and_in_the_form(propose, reads_bob):  # noqa: F811
    interrupt = propose("edit", GROUPS)
    page = reads_bob.open(interrupt)

    as_json = press(reads_bob, interrupt, page, "tab:json:args")
    form = press(reads_bob, interrupt, page, "tab:form:args")

    text = re.search(r'<textarea[^>]* name="args\.json"[^>]*>\n(.*?)</textarea>', as_json, re.S)
    assert json.loads(html.unescape(text[1])) == GROUPS
    assert LATER.findall(form) == []
    assert len(set(re.findall(r'name="args/(g\d+)', form))) == len(GROUPS)


def test_rejected_answer_keeps_later_values_unloaded(propose, reads_bob):  # noqa: F811
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}}
    interrupt = propose("edit", {"count": 3, **GROUPS}, schema=schema)
    page = reads_bob.open(interrupt)

    response = decide(reads_bob, interrupt, page, args__count="many")

    assert response.status_code == 422
    assert LATER.findall(response.content.decode()) == LATER.findall(page)


def test_field_that_was_sent_counts_beside_its_later_mark(propose, reads_bob):  # noqa: F811
    interrupt = propose("edit", GROUPS)
    page = reads_bob.open(interrupt)
    post = decision_form(page).post().copy()
    post["args/g99"] = '{"m0": "mine"}'

    reads_bob.post(interrupt, post, "approve" + opened(page))

    assert sent(interrupt)["editedArgs"] == {**GROUPS, "g99": {"m0": "mine"}}


def test_later_text_has_its_beginning_and_must_be_read(propose, reads_bob):  # noqa: F811
    texts = {**SHAPES["long texts"], "last": "Beginning of the last. " + "word " * 3_000 + "End"}
    interrupt = propose("edit", texts)
    page = reads_bob.open(interrupt)
    address = html.unescape(re.findall(r'hx-get="([^"]+at=%2Flast)"', page)[0])

    unread = reads_bob.post(interrupt, decision_form(page).post(), "approve")
    text = words(reads_bob.get(address, live=True))

    assert "Beginning of the last." in page
    assert unread.status_code == 422
    assert "Read the whole text before you approve." in words(unread)
    assert open_interrupts(interrupt.run) == [interrupt]
    assert text.endswith("word End")
