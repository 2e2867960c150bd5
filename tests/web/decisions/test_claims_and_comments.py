import html
import re
from datetime import timedelta

import pytest

from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.models import Claim
from tests.support.steps import (
    APPROVE,
    answer,
    approve,
    open_interrupts,
    reread,
    start,
)
from tests.support.web.pages import decision_form, sent, words
from tests.web.decisions.lists.test_inbox_lists import expire_in


@pytest.fixture
def post(reads_bob):
    """Press one of the page's other buttons as Bob."""

    def press(interrupt, name, *, live=False, **fields):
        more = {"HTTP_HX_REQUEST": "true"} if live else {}
        return reads_bob.client.post(f"/interrupts/{interrupt.pk}/{name}", fields, **more)

    return press


@pytest.fixture
def first(world):
    """The first of three questions of a run."""
    return open_interrupts(start(world, "rehearse:parallel3"))[0]


def claimed(interrupt, actor):
    return claim_interrupt(interrupt_id=interrupt.pk, actor=actor)


def test_a_claim_shows_on_the_pages_of_both(first, post, dora, reads_bob, world):
    response = post(first, "claim")

    assert (response.status_code, response.url) == (303, f"/interrupts/{first.pk}/")
    assert "Claimed by you" in words(reads_bob.get(response.url))
    assert Claim.objects.get().user == world.bob


def test_the_list_stays_narrowed_when_something_is_claimed_in_it(first, reads_bob):
    page = reads_bob.get(f"/interrupts/{first.pk}/?agent=rehearsal").content.decode()
    (form,) = re.findall(r'<form id="claim-form"[^>]*>', page)
    (address,) = re.findall(r' action="([^"]*)"', form)

    response = reads_bob.client.post(html.unescape(address))

    assert response.url == f"/interrupts/{first.pk}/?agent=rehearsal"
    assert "#rows" not in form


def test_what_another_has_claimed_can_be_taken_over(first, post, dora, reads_bob):
    claimed(first, dora)
    page = reads_bob.open(first)
    assert "Claimed by <bdi>Dora</bdi>" in page
    assert 'form="claim-form" name="take_over"' in page

    refused = post(first, "claim")
    response = post(first, "claim", take_over="1")

    assert refused.status_code == 409
    assert "Dora is reviewing this." in words(refused)
    assert response.status_code == 303
    assert "Claimed by you" in reads_bob.open(first)


def test_an_answer_to_what_another_has_claimed_is_kept_and_explained(ask, dora, reads_bob):
    interrupt = ask("tool_call")
    claimed(interrupt, dora)
    response = reads_bob.send(interrupt, "approve", {"args/to": "mine@example.com"})

    assert response.status_code == 409
    assert "Dora is reviewing this." in words(response)
    assert "Take over the request" in words(response)
    form = decision_form(response.content.decode())
    assert form.control("args/to").value == "mine@example.com"
    assert reread(interrupt).status == "open"


def test_releasing_gives_it_back(first, post, reads_bob):
    post(first, "claim")

    response = post(first, "release")

    assert response.status_code == 303
    assert not Claim.objects.exists()
    assert "Claimed by you" not in reads_bob.open(first)


def test_renewing_has_nothing_to_show_until_somebody_took_it_over(first, post, dora):
    post(first, "claim")
    renewed = post(first, "renew")
    claim_interrupt(interrupt_id=first.pk, actor=dora, take_over=True)

    refused = post(first, "renew")

    assert (renewed.status_code, renewed.content) == (204, b"")
    assert refused.status_code == 409
    assert "Dora is reviewing this." in words(refused)


def test_an_answer_is_taken_back_from_its_page(first, bob, post, reads_bob):
    approve(first, bob)
    assert "Withdraw my answer" in reads_bob.open(first)

    response = post(first, "withdraw")

    assert response.status_code == 303
    assert reread(first).status == "open"
    assert "Withdraw my answer" not in reads_bob.open(first)
    assert "withdrew the answer" in words(reads_bob.get(response.url))


def test_what_the_agent_has_got_is_not_taken_back_and_the_page_says_why(ask, bob, post):
    interrupt = ask("tool_call")
    answer(interrupt, bob, APPROVE)

    response = post(interrupt, "withdraw")

    assert response.status_code == 409
    assert "it cannot be withdrawn" in words(response)
    assert sent(interrupt) == APPROVE


def test_comments_show_to_everybody_in_the_team(first, post, reads_alice, reads_carol):
    post(first, "comment", text="Two lines\r\nof doubt <b>bold</b>")

    page = reads_alice.open(first)

    assert "Two lines\nof doubt &lt;b&gt;bold&lt;/b&gt;" in page
    assert 'id="f-comment"' not in page
    assert reads_carol.get(f"/interrupts/{first.pk}/").status_code == 404


@pytest.mark.parametrize("live", [False, True], ids=["page", "htmx"])
def test_a_comment_that_is_not_taken_is_kept_and_explained(first, post, live):
    long = "ü" * 4001

    response = post(first, "comment", text=long, live=live)

    assert response.status_code == 422
    assert "at most 4000 characters" in words(response)
    assert long in response.content.decode()


def test_hidden_characters_in_a_comment_are_shown(first, post, reads_bob):
    post(first, "comment", text="abc\u202edef")

    assert "abc⟨U+202E⟩def" in html.unescape(reads_bob.open(first))


@pytest.mark.parametrize("name", ["claim", "release", "withdraw", "comment"])
def test_an_htmx_request_gets_the_request_as_it_is_then_without_the_frame(first, bob, post, name):
    if name == "withdraw":
        approve(first, bob)

    response = post(first, name, live=True, text="hello")

    page = response.content.decode()
    assert response.status_code == 200
    assert 'id="claim"' in page
    assert 'id="rail"' not in page


def test_claiming_what_is_decided_says_so(ask, dora, post):
    interrupt = ask("tool_call")
    approve(interrupt, dora)

    response = post(interrupt, "claim")

    assert response.status_code == 409
    assert "Dora already decided this" in words(response)


def test_a_viewer_sees_who_has_it_and_has_no_buttons(first, dora, reads_alice):
    claimed(first, dora)

    page = reads_alice.open(first)

    assert "Claimed by <bdi>Dora</bdi>" in page
    assert "Take over" not in page
    assert "claim-form" not in page


@pytest.fixture
def broken(world):
    run = start(world, "rehearse:error")
    assert run.status == "failed"
    return run


def press(reader, run, name):
    return reader.client.post(f"/runs/{run.pk}/{name}")


def test_a_failed_run_is_tried_again_from_the_page_of_its_thread(broken, reads_alice):
    page = f"/threads/{broken.thread_id}/"
    assert f'action="/runs/{broken.pk}/retry"' in reads_alice.get(page).content.decode()

    response = press(reads_alice, broken, "retry")

    assert (response.status_code, response.url) == (303, page)
    text = reads_alice.get(page).content.decode()
    assert "/retry" not in text
    assert f'action="/runs/{broken.retried_by.pk}/cancel"' in text


def test_what_cannot_be_tried_again_says_why_on_the_page_of_the_thread(world, reads_alice):
    run = start(world, "rehearse:echo")

    response = press(reads_alice, run, "retry")

    assert response.status_code == 409
    assert "Only failed runs can be retried" in words(response)


def test_a_run_is_cancelled_from_the_page_of_its_thread(broken, reads_alice):
    press(reads_alice, broken, "retry")

    response = press(reads_alice, broken.retried_by, "cancel")
    again = press(reads_alice, broken, "cancel")

    assert response.status_code == 303
    assert reread(broken.retried_by).status == "cancelled"
    assert again.status_code == 409
    assert "already ended" in words(again)


@pytest.mark.parametrize(
    ("reader", "is_offered"), [("alice", True), ("bob", True), ("vera", False)]
)
def test_requester_and_reviewers_cancel_open_requests_on_the_thread_page(
    world, reads_alice, reads_bob, reads_vera, reader, is_offered
):
    run = start(world, "rehearse:parallel3")
    reads = {"alice": reads_alice, "bob": reads_bob, "vera": reads_vera}[reader]
    page = f"/threads/{run.thread_id}/"

    thread_page = reads.get(page)
    response = press(reads, run, "cancel")

    assert ("Cancel open requests" in words(thread_page)) == is_offered
    assert (response.status_code == 303) == is_offered
    assert bool(open_interrupts(run)) != is_offered


def test_the_page_says_why_others_cannot_cancel_claimed_requests(world, reads_bob, dora):
    run = start(world, "rehearse:tool_call")
    claimed(open_interrupts(run)[0], dora)

    response = press(reads_bob, run, "cancel")

    assert response.status_code == 409
    assert "Dora" in words(response)
    assert open_interrupts(run)


def test_late_request_offers_no_claim_assignment_or_snooze(ask, reads_bob):
    row = ask("tool_call")
    offers = ('form="claim-form"', 'data-action="assign"', 'data-action="snooze"')
    assert all(offer in reads_bob.open(row) for offer in offers)

    expire_in(row, timedelta(seconds=-1))

    assert not any(offer in reads_bob.open(row) for offer in offers)
