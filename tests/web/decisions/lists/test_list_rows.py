"""Rows of lists: times, people, tags, and the requests of one run as one row."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from inbox.actions.decisions.claims_and_comments import claim_interrupt, record_view
from inbox.queries.people.api_keys import actor_of_user
from tests.support.steps import approve, open_interrupts, start
from tests.support.web.pages import row_html, words


@pytest.fixture
def three(world):
    """Three requests of one run that differ in their values only."""
    return open_interrupts(start(world, "rehearse:parallel3"))


def test_row_says_the_time_left_only_if_the_request_expires(ask, reads_bob):
    expires, never = ask("tool_call"), ask("custom_reason")
    set_expiry(never, None)
    set_expiry(expires, timezone.now() + timedelta(hours=1))

    page = reads_bob.get("/")

    assert 'data-as="left"' in row_html(page, expires)
    assert 'data-as="age"' in row_html(page, never)


@pytest.mark.parametrize(
    ("scenario", "kind"), [("input_required", "Question"), ("custom_reason", "Policy hold")]
)
def test_reason_is_named_in_words_and_not_as_a_tool(scenario, kind, ask, reads_bob):
    interrupt = ask(scenario)

    page = words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))

    assert f"Kind {kind}" in page
    assert "policy_hold" not in page


def test_unseen_request_is_new_until_its_reader_has_opened_it(ask, world, reads_bob, reads_ana):
    request = ask("tool_call")
    assert "is-new" in row_html(reads_bob.get("/"), request)

    record_view(interrupt_id=request.pk, view_digest=request.shown_digest, actor=bob_of(world))

    assert "is-new" not in row_html(reads_bob.get("/"), request)
    assert "is-new" in row_html(reads_ana.get("/"), request)


def test_open_request_is_not_new_in_the_list_beside_it(ask, reads_bob):
    request = ask("tool_call")

    assert "is-new" not in row_html(reads_bob.get(f"/interrupts/{request.pk}/"), request)


def test_row_has_the_faces_of_who_claimed_or_decided(ask, world, bob, reads_ana):
    claimed, decided = ask("tool_call"), ask("tool_call")
    claim_interrupt(interrupt_id=claimed.pk, actor=bob)
    approve(decided, bob)

    assert 'title="Claimed by Bob"' in row_html(reads_ana.get("/"), claimed)
    assert 'title="Decided by Bob"' in row_html(reads_ana.get("/decided/"), decided)


def test_each_similar_request_says_how_many_there_are(three, ask, reads_bob):
    alone = ask("confirmation")

    page = reads_bob.get("/")

    for request in three:
        assert "2 similar" in row_html(page, request)
    assert "similar" not in row_html(page, alone)


def test_row_has_one_fact_beside_who_asks(three, bob, reads_ana):
    for request in three:
        claim_interrupt(interrupt_id=request.pk, actor=bob)
        set_expiry(request, timezone.now() + timedelta(minutes=1))

    html = row_html(reads_ana.get("/"), three[0])

    assert "Claimed by Bob" in re.sub("<[^>]*>", "", html.partition("row-sub")[2])
    assert "similar" not in html
    assert "tag" not in html


def test_requests_of_a_run_are_one_row_that_opens(three, ask, reads_bob):
    ask("confirmation")

    page = reads_bob.get("/").content.decode()

    (fold,) = re.findall(r'<li class="fold.*?</details>', page, re.DOTALL)
    assert re.findall(r'id="row-([0-9a-f-]{36})"', fold) == [str(row.pk) for row in three]
    assert f'href="/interrupts/{three[0].pk}/"' in fold
    assert "3 requests" in fold
    assert "<details" in fold
    assert " open" not in fold.partition("<summary")[0]


def test_the_run_of_the_open_request_is_unfolded(three, reads_bob):
    page = reads_bob.get(f"/interrupts/{three[1].pk}/").content.decode()

    assert re.search(r"<details[^>]* open>", page)


def test_last_open_request_of_a_run_is_a_plain_row(three, bob, reads_bob):
    for request in three[:2]:
        approve(request, bob)

    page = reads_bob.get("/")

    assert 'class="fold' not in page.content.decode()
    assert "2 of 3 decided" in row_html(page, three[2])


def test_title_of_a_folded_run_is_text(world, reads_bob):
    start(world, "rehearse:parallel:2 <script>alert(1)</script>")
    start(world, "rehearse:parallel:2")

    page = reads_bob.get("/").content.decode()

    assert "<script>alert" not in page


def test_decided_requests_are_under_their_days(ask, bob, reads_bob):
    today, yesterday, earlier = ask("tool_call"), ask("tool_call"), ask("tool_call")
    for request in (today, yesterday, earlier):
        approve(request, bob)
    close_at(yesterday, timezone.now() - timedelta(days=1))
    close_at(earlier, timezone.now().replace(year=2020, month=2, day=3))

    page = words(reads_bob.get("/decided/"))

    assert page.index("Today") < page.index("Yesterday") < page.index("3 February 2020")


def test_title_of_the_list_has_its_number_of_requests(three, ask, world, reads_bob):
    ask("confirmation")

    assert count_of(reads_bob.get("/")) == "4"
    assert count_of(reads_bob.get("/?reason=confirmation")) == "1"
    start(world, "rehearse:parallel:60")
    assert count_of(reads_bob.get("/?reason=tool_call")) == "50+"
    assert count_of(reads_bob.get("/")) == "64"
    assert count_of(reads_bob.get("/decided/")) == ""


def count_of(response):
    html = re.search(r'id="list-count" data-live>(.*?)</span>', response.content.decode(), re.S)
    return re.sub(r"<[^>]+>", "", html.group(1)).strip()


def set_expiry(interrupt, at):
    far = timezone.now() + timedelta(days=3650)
    type(interrupt).objects.filter(pk=interrupt.pk).update(expires_at=at, due_at=at or far)


def close_at(interrupt, at):
    type(interrupt).objects.filter(pk=interrupt.pk).update(closed_at=at)


def bob_of(world):
    return actor_of_user(world.bob)
