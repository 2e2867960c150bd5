"""Narrowing the lists: addresses, the form, chips, and what stays when something is opened."""

import html
import re
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.utils import timezone

from inbox.models import Claim
from tests.support.steps import approve, open_interrupts, start
from tests.support.web.pages import decision_form, words
from tests.web.decisions.lists.test_inbox_lists import expire_in, listed
from tests.web.text.test_hostile_text_in_fields import PAYLOADS, Markup


def links(response):
    return [html.unescape(url) for url in re.findall(r'href="([^"]+)"', response.content.decode())]


def claim(row, user):
    now = timezone.now()
    Claim.objects.create(interrupt=row, user=user, claimed_at=now, until=now + timedelta(minutes=5))


def test_the_address_says_what_is_listed(ask, reads_bob):
    call, question = ask("tool_call"), ask("confirmation")

    assert listed(reads_bob.get("/?tool=send_email")) == [str(call.pk)]
    assert listed(reads_bob.get("/?reason=confirmation")) == [str(question.pk)]
    assert listed(reads_bob.get("/?q=ARCHIVE")) == [str(question.pk)]
    assert listed(reads_bob.get("/?agent=rehearsal&sort=new")) == [str(question.pk), str(call.pk)]


def test_what_the_form_sends_becomes_the_shortest_address(ask, reads_bob):
    ask("tool_call")

    form = "state=open&agent=rehearsal&tool=&reason=&sort=due&q=+Invoice++dana"
    answer = reads_bob.get(f"/?{form}")
    decided = reads_bob.get("/?state=decided&agent=&sort=due&q=")

    assert answer["Location"] == "/?agent=rehearsal&q=Invoice+dana"
    assert reads_bob.get(answer["Location"]).status_code == 200
    assert decided["Location"] == "/decided/"


def test_every_chip_takes_one_thing_away(ask, reads_bob):
    ask("tool_call")

    page = reads_bob.get("/?agent=rehearsal&tool=send_email&q=dana&mine=1")
    filter_links = links(page)

    assert "/?tool=send_email&mine=1&q=dana" in filter_links
    assert "/?agent=rehearsal&mine=1&q=dana" in filter_links
    assert "/?agent=rehearsal&tool=send_email&mine=1" in filter_links
    assert "Agent: rehearsal" in words(page)


def test_an_opened_request_has_the_same_list_beside_it_and_the_way_back(ask, reads_bob):
    call, question = ask("tool_call"), ask("confirmation")
    (address,) = {url for url in links(reads_bob.get("/?tool=send_email")) if str(call.pk) in url}

    page = reads_bob.get(address)

    assert address == f"/interrupts/{call.pk}/?tool=send_email"
    assert listed(page) == [str(call.pk)]
    assert 'href="/?tool=send_email" aria-label="Back to the list"' in page.content.decode()
    assert listed(reads_bob.get(f"/interrupts/{question.pk}/")) == [
        str(call.pk),
        str(question.pk),
    ]


def test_a_decision_keeps_the_list_that_it_was_made_beside(ask, reads_bob):
    call = ask("tool_call")
    ask("confirmation")
    page = reads_bob.get(f"/interrupts/{call.pk}/?tool=send_email").content.decode()
    action = html.unescape(re.search(r'<form[^>]* id="decision"[^>]* action="([^"]+)"', page)[1])

    plain = reads_bob.client.post(
        action, {**decision_form(page).post().dict(), "action": "approve"}
    )

    assert plain["Location"] == f"/?tool=send_email&done={call.pk}"
    assert listed(reads_bob.get(plain["Location"])) == []


def test_what_is_decided_is_narrowed_in_the_same_way(world, bob, reads_bob):
    first, second, _ = open_interrupts(start(world, "rehearse:parallel3"))
    approve(first, bob)
    approve(second, bob)

    page = reads_bob.get("/decided/?q=eli")

    assert listed(page) == [str(second.pk)]
    assert f"/decided/{second.pk}/?q=eli" in links(page)
    assert listed(reads_bob.get("/decided/?mine=1")) == [str(second.pk), str(first.pk)]
    assert len(listed(reads_bob.get("/?state=all"))) == 3
    assert listed(reads_bob.get("/decided/?state=cancelled")) == []


def test_a_long_list_of_decided_requests_goes_on_and_leads_back(world, bob, reads_bob):
    for row in open_interrupts(start(world, "rehearse:parallel:53")):
        approve(row, bob)

    first = reads_bob.get("/decided/?tool=send_email")
    (following,) = [url for url in links(first) if re.match(r"/decided/\?.*after=", url)]
    second = reads_bob.get(following)

    assert (len(listed(first)), len(listed(second))) == (50, 3)
    assert not set(listed(first)) & set(listed(second))
    assert "/decided/?tool=send_email" in links(second)
    assert "Back to the first page" in words(second)


def test_no_results_are_told_with_the_filter_and_a_way_out(ask, reads_bob):
    ask("tool_call")

    for query in ("q=nowhere", "agent=nobody", "team=elsewhere", "tool=rm_rf"):
        page = words(reads_bob.get(f"/?{query}"))
        assert "No requests match" in page
        assert query.partition("=")[2] in page
        assert "Clear the filter" in page
    assert "No claimed requests" in words(reads_bob.get("/?mine=1"))
    assert "Nothing expires soon" in words(reads_bob.get("/?expiring=1"))


def test_nonsense_in_the_address_is_ignored_and_said_to_be(ask, reads_bob):
    call = ask("tool_call")

    page = reads_bob.get("/?state=nonsense&sort=up&mine=maybe&agent=rehearsal")

    assert listed(page) == [str(call.pk)]
    assert "were ignored: State, Mine, Sort." in words(page)


def test_the_rail_counts_what_is_claimed_and_what_expires(world, ask, reads_bob, reads_alice):
    claim(ask("tool_call"), world.bob)
    expire_in(ask("confirmation"), timedelta(minutes=5))

    page = reads_bob.get("/")

    assert "1 claimed by you" in words(page)
    assert "1 expiring soon" in words(page)
    assert "claimed by you" not in words(reads_alice.get("/"))
    assert b'id="claimed-count"' in reads_bob.get("/", live=True).content


def test_a_claimed_request_says_by_whom(world, ask, reads_bob, reads_alice):
    claim(ask("tool_call"), world.bob)

    assert "Claimed by you" in words(reads_bob.get("/"))
    assert "Claimed by Bob" in words(reads_alice.get("/"))


def test_a_page_of_many_takes_no_more_queries_than_a_page_of_few(
    world, reads_bob, django_assert_max_num_queries
):
    start(world, "rehearse:parallel:60")
    reads_bob.client.post("/first-steps/hide")
    reads_bob.get("/runs/")  # writes down, once a minute, where he is signed in

    with django_assert_max_num_queries(24):
        reads_bob.get("/")
    with django_assert_max_num_queries(15):
        reads_bob.get("/", live=True)


@pytest.mark.parametrize("text", [*PAYLOADS.values(), "%", "_", "\\", "a\0b", "x" * 10_000])
@pytest.mark.parametrize("name", ["q", "agent", "tool", "reason", "team", "state", "sort", "after"])
def test_whatever_stands_in_an_address_comes_back_as_text(ask, reads_bob, name, text):
    call = ask("tool_call")

    for path in ("/", "/decided/", f"/interrupts/{call.pk}/"):
        page = reads_bob.get(f"{path}?{name}={quote(text)}")
        assert page.status_code == 200
        assert Markup(page.content.decode()).found == []
