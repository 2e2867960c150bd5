import html
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from inbox.models import Interrupt, Run
from inbox.queries.decisions import inbox_lists
from tests.support.steps import (
    approve,
    call_off,
    deny,
    open_interrupts,
    start,
)
from tests.support.web.pages import row_html, words


def test_the_soonest_to_expire_comes_first_and_what_never_expires_last(world, reads_bob, ask):
    never = ask("custom_reason")
    later = ask("tool_call")
    soon = ask("confirmation")
    expire_in(soon, timedelta(minutes=5))

    assert listed(reads_bob.get("/")) == [str(row.pk) for row in (soon, later, never)]


def test_what_expires_soon_says_so(reads_bob, ask):
    expire_in(ask("tool_call"), timedelta(minutes=5))
    expire_in(ask("confirmation"), timedelta(minutes=1))

    page = reads_bob.get("/").content.decode()

    assert page.index("row-age is-bad") < page.index("row-age is-warn")


@pytest.mark.parametrize(
    ("hours", "mark"), [(2, "row-age is-warn"), (20, "row-age is-soon"), (30, None)]
)
def test_row_has_its_deadline_on_the_last_day_only(hours, mark, reads_bob, ask):
    interrupt = ask("tool_call")
    expire_in(interrupt, timedelta(hours=hours))

    row = row_html(reads_bob.get("/"), interrupt)

    assert ("row-age" in row) is bool(mark)
    assert mark is None or mark in row


def test_rows_stand_under_the_time_at_which_they_are_due(reads_bob, ask):
    for hours in (30, 24 * 20):
        expire_in(ask("tool_call"), timedelta(hours=hours))
    never = ask("confirmation")
    never_at = timezone.now() + timedelta(days=3650)
    Interrupt.objects.filter(pk=never.pk).update(expires_at=None, due_at=never_at)

    page = reads_bob.get("/").content.decode()

    assert re.findall(r'<li class="day" id="([a-z-]+)">', page) == [
        "due-week",
        "due-later",
        "due-never",
    ]


def test_rows_that_are_all_due_at_one_time_need_no_title(reads_bob, ask):
    for _ in range(2):
        expire_in(ask("tool_call"), timedelta(hours=30))

    assert 'class="day" id="due' not in reads_bob.get("/").content.decode()


def test_the_rail_has_the_real_number_of_what_is_pending(world, reads_bob):
    assert "pending-count" in (page := reads_bob.get("/").content.decode())
    assert "0<span" not in page
    for number, total in ((2, 2), (120, 122)):
        start(world, f"rehearse:parallel:{number}")

        assert f"{total} pending" in words(reads_bob.get("/"))


def test_a_long_list_goes_on_behind_a_link(world, reads_bob):
    start(world, "rehearse:parallel:60")

    first = reads_bob.get("/")
    following = re.search(r'href="(/\?after=[^"]+)"', first.content.decode())
    second = reads_bob.get(following.group(1))

    assert len(listed(first)) == 50
    assert len(listed(second)) == 10
    assert not set(listed(first)) & set(listed(second))


def test_a_link_to_nowhere_shows_the_list_from_its_start(ask, reads_bob):
    interrupt = ask("tool_call")

    for after in ("nonsense", "01a1f997-8ed2-72a5-8089-e7eeec5e324c"):
        assert listed(reads_bob.get(f"/?after={after}")) == [str(interrupt.pk)]


def test_an_empty_list_says_how_to_get_a_first_item(world, reads_bob):
    page = words(reads_bob.get("/"))

    assert "Nothing waits yet" in page
    assert "curl http://testserver/api/runs" in page
    assert '"agent": "rehearsal"' in page
    assert "$SIGNOFF_API_KEY" in page


def test_an_empty_list_starts_a_demo_request(world, reads_bob):
    page = reads_bob.get("/").content.decode()

    for _ in range(2):  # the form twice
        key = re.search(r'name="key" value="([^"]+)"', page).group(1)
        answer = reads_bob.client.post("/runs/demo", {"key": key})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert Run.objects.count() == 1


def test_nobody_starts_a_demo_request_for_another_team(world, reads_carol):
    assert "Start a demo request" not in words(reads_carol.get("/"))
    assert reads_carol.client.post("/runs/demo", {}).status_code == 404


def test_decided_items_are_listed_with_who_and_what(world, bob, reads_bob, reads_alice):
    first, second, third = open_interrupts(start(world, "rehearse:parallel3"))
    approve(first, bob)
    deny(second, bob)
    call_off(third, bob)

    assert listed(reads_bob.get("/decided/")) == [str(row.pk) for row in (third, second, first)]
    page = words(reads_alice.get("/decided/"))
    assert "Bob approved" in page
    assert "Bob rejected" in page
    assert "Bob cancelled" in page


def test_the_pending_list_ends_with_what_was_decided_last(ask, bob, reads_bob):
    interrupt = ask("tool_call")
    approve(interrupt, bob)

    page = reads_bob.get("/").content.decode()

    assert listed(reads_bob.get("/")) == []
    assert f"/interrupts/{interrupt.pk}/" in page.partition("Recently decided")[2]


def test_a_live_request_gets_the_same_rows_without_the_frame(ask, reads_bob):
    interrupt = ask("tool_call")

    page = reads_bob.get("/", live=True)

    assert listed(page) == [str(interrupt.pk)]
    assert b'id="rail"' not in page.content
    assert b'id="pending-count"' in page.content


def listed(response):
    """The ids of the rows of the list, in order."""
    rows = re.search(r'<ul id="rows".*?</ul>', response.content.decode(), re.DOTALL)
    return re.findall(r'id="row-([0-9a-f-]{36})"', rows.group())


def expire_in(interrupt, time):
    at = timezone.now() + time
    type(interrupt).objects.filter(pk=interrupt.pk).update(expires_at=at, due_at=at)


def test_search_that_stopped_says_so_and_goes_on(world, reads_bob, monkeypatch):
    start(world, "rehearse:tool_call")
    for _ in range(2):
        start(world, "rehearse:confirmation")
    monkeypatch.setattr(inbox_lists, "MAX_ROWS_SEARCHED", 2)

    first = reads_bob.get("/?sort=new&q=invoice")

    assert "No matches so far. There are more requests to search. Continue searching" in words(
        first
    )
    assert "No results" not in words(first)
    second = reads_bob.get(
        html.unescape(re.search(r'href="([^"]*after=[^"]*)"', first.content.decode()).group(1))
    )
    assert len(listed(second)) == 1
    assert "Continue searching" not in words(second)


def test_search_over_rest_goes_on_from_where_it_stopped(world, reads_bob, monkeypatch):
    start(world, "rehearse:tool_call")
    for _ in range(2):
        start(world, "rehearse:confirmation")
    monkeypatch.setattr(inbox_lists, "MAX_ROWS_SEARCHED", 2)

    first = reads_bob.get("/api/interrupts?sort=new&q=invoice").json()
    second = reads_bob.get(f"/api/interrupts?sort=new&q=invoice&after={first['next_after']}").json()

    assert first["results"] == []
    assert [row["tool"] for row in second["results"]] == ["send_email"]
    assert second["next_after"] is None


@pytest.mark.parametrize("query", ["", "?sort=new"])
def test_the_day_names_the_next_deadline_in_any_order(query, reads_bob, ask):
    for hours in (1, 20):
        expire_in(ask("tool_call"), timedelta(hours=hours))
    (soonest, _) = Interrupt.objects.order_by("expires_at").values_list("expires_at", flat=True)

    day = reads_bob.get(f"/{query}").content.decode().partition('class="day-pane"')[2]

    assert f'datetime="{soonest:%Y-%m-%dT%H:%M}' in day.partition("</time>")[0]


def test_the_day_begins_with_a_request_that_is_open(reads_bob, ask, bob):
    decided, later = ask("tool_call"), ask("confirmation")
    approve(decided, bob)

    day = reads_bob.get("/?state=all").content.decode().partition('class="day-pane"')[2]

    assert f'btn-primary" href="/interrupts/{later.pk}/' in day
