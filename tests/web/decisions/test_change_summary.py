"""A reviewer's changes beside the title of a decided request, which has the proposed values."""

import json

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.support.steps import approve, deny
from tests.support.web.pages import words

CHANGE = "Changes: to dana@example.com to eli@example.com"
IN_TITLE = "changed from dana@example.com to eli@example.com"


def edit(interrupt, actor, **changes):
    approve(interrupt, actor, editedArgs={**json.loads(interrupt.args), **changes})


def test_a_decided_request_says_what_was_changed_on_its_page_and_in_lists(ask, reads_bob, bob):
    interrupt = ask("tool_call")
    edit(interrupt, bob, to="eli@example.com")

    page, decided, audit = (
        words(reads_bob.get(path)).replace("→ ", "")
        for path in (f"/decided/{interrupt.pk}/", "/decided/", "/audit/")
    )

    assert IN_TITLE in page
    assert IN_TITLE in decided
    assert CHANGE in audit


def test_an_approval_without_changes_and_a_rejection_have_no_changes(ask, reads_bob, bob):
    approve(ask("tool_call"), bob)
    deny(ask("tool_call"), bob)

    assert "Changes:" not in words(reads_bob.get("/decided/"))


def test_changes_need_no_more_queries_than_the_list_without_them(ask, reads_bob, bob):
    approve(ask("tool_call"), bob)
    reads_bob.get("/decided/")
    with CaptureQueriesContext(connection) as before:
        reads_bob.get("/decided/")
    edit(ask("tool_call"), bob, to="eli@example.com")

    with CaptureQueriesContext(connection) as after:
        reads_bob.get("/decided/")

    assert len(after) == len(before)


def test_changes_of_a_very_large_request_are_on_its_page_only(ask, reads_bob, bob):
    interrupt = ask("tool_call")
    edit(interrupt, bob, to="eli@example.com", body="x" * 60_000)

    assert IN_TITLE not in words(reads_bob.get("/decided/"))
    assert IN_TITLE in words(reads_bob.get(f"/decided/{interrupt.pk}/"))
