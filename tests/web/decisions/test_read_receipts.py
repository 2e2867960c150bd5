"""Who has opened a request is in its trail, once for each view of it."""

import pytest

from inbox.actions.decisions.claims_and_comments import record_view
from inbox.models import AuditEntry
from inbox.rules.errors import Forbidden, NotFound, ViewChanged
from tests.integration.decisions.test_decide import ask_twice_about_one_call
from tests.support.steps import approve, open_interrupts, reread, start
from tests.support.web.pages import words


@pytest.fixture
def interrupt(world):
    return open_interrupts(start(world, "rehearse:tool_call"))[0]


def tell(reader, interrupt, view_digest=None):
    """What the page of a request sends once somebody looks at it."""
    body = {"view_digest": view_digest or reread(interrupt).shown_digest}
    return reader.client.post(f"/interrupts/{interrupt.pk}/viewed", body).status_code


def look(interrupt, actor, view_digest=None):
    digest = view_digest or reread(interrupt).shown_digest
    return record_view(interrupt_id=interrupt.pk, view_digest=digest, actor=actor)


def sightings(interrupt):
    entries = AuditEntry.objects.filter(interrupt=interrupt, action="interrupt.viewed")
    return [(entry.actor_id, entry.content["digests"]["view"]) for entry in entries.order_by("seq")]


def test_a_view_is_in_the_trail_once_for_each_person(interrupt, bob, alice, reads_bob, reads_alice):
    for reader in (reads_bob, reads_bob, reads_alice, reads_bob):
        assert tell(reader, interrupt) == 204

    assert sightings(interrupt) == [
        (str(bob.user_id), interrupt.view_digest),
        (str(alice.user_id), interrupt.view_digest),
    ]


def test_another_view_of_the_same_request_is_seen_anew(world, as_agent, bob, reads_bob):
    async def play(run_input, _context):
        for event in ask_twice_about_one_call(run_input):
            yield event

    first, second = open_interrupts(start(world, "go", agent=as_agent(play)))
    tell(reads_bob, second)
    approve(first, bob, editedArgs={"amount": 9})

    tell(reads_bob, second)

    (_, before), (_, after) = sightings(second)
    assert before != after == reread(second).shown_digest


def test_the_second_question_about_a_call_shows_what_the_first_changed(
    world, as_agent, bob, reads_bob
):
    async def play(run_input, _context):
        for event in ask_twice_about_one_call(run_input):
            yield event

    first, second = open_interrupts(start(world, "go", agent=as_agent(play)))
    assert "value-before" not in reads_bob.open(second)
    approve(first, bob, editedArgs={"amount": 9})

    page = reads_bob.open(second)

    assert "5" in page.partition('<del class="value-before">')[2].partition("</del>")[0]
    assert "9" in page.partition('<ins class="value-after">')[2].partition("</ins>")[0]


def test_a_page_asks_to_be_told_of_only_until_it_was(interrupt, reads_bob, reads_alice):
    address = f'data-viewed="/interrupts/{interrupt.pk}/viewed"'
    assert address in reads_bob.open(interrupt)
    assert address in reads_bob.open(interrupt), "reading a page has written something down"

    tell(reads_bob, interrupt)

    assert "data-viewed" not in reads_bob.open(interrupt)
    assert address in reads_alice.open(interrupt)


def test_nobody_has_seen_what_was_not_shown(interrupt, bob, reads_bob):
    assert tell(reads_bob, interrupt, "0" * 64) == 409
    with pytest.raises(ViewChanged):
        look(interrupt, bob, "0" * 64)

    assert sightings(interrupt) == []


def test_strangers_and_machines_see_nothing(interrupt, carol, robot, reads_carol):
    assert tell(reads_carol, interrupt) == 404
    with pytest.raises(NotFound):
        look(interrupt, carol)
    with pytest.raises(Forbidden):
        look(interrupt, robot)

    assert sightings(interrupt) == []


def test_the_history_of_the_thread_says_who_has_seen_it(interrupt, reads_bob, reads_alice):
    tell(reads_bob, interrupt)
    history = f"/audit/threads/{interrupt.thread_id}/"

    assert "Bob viewed this" in words(reads_alice.get(history))
    assert "You viewed this" in words(reads_bob.get(history))
    assert "Bob viewed this" in words(reads_alice.get(f"/audit/calls/{interrupt.tool_call_id}/"))
    assert "Matches the audit trail." in words(
        reads_alice.get(f"/audit/calls/{interrupt.tool_call_id}/")
    )
