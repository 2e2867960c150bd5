"""The page of a request offers the decisions that the gate accepts, and no others."""

import re
from datetime import timedelta

import pytest

from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.decisions.decide import decide
from inbox.actions.decisions.expiry import expire_interrupts
from inbox.rules.decisions.gate import Entrance
from inbox.rules.runs.states import EntryStatus
from tests.support.steps import approve, open_interrupts, start
from tests.support.web.pages import decision_form, words

ACTIONS = ("approve", "approve_and_allow", "reject", "cancel")


def leave_open(world, interrupt, dora):
    """Change nothing."""


def let_pass(world, interrupt, dora):
    """The time is over, and the sweeper has not come yet."""
    at = interrupt.created_at - timedelta(minutes=1)
    type(interrupt).objects.filter(pk=interrupt.pk).update(expires_at=at, due_at=at)


def expire(world, interrupt, dora):
    let_pass(world, interrupt, dora)
    expire_interrupts(thread_id=interrupt.thread_id)


def claim(world, interrupt, dora):
    claim_interrupt(interrupt_id=interrupt.pk, actor=dora)


def decide_elsewhere(world, interrupt, dora):
    approve(interrupt, dora)


def cancel(world, interrupt, dora):
    decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.CANCELLED,
        view_digest=interrupt.shown_digest,
        entrance=Entrance.PAGE,
        actor=dora,
    )


STATES = [leave_open, let_pass, expire, claim, decide_elsewhere, cancel]


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("state", STATES)
def test_page_offers_what_the_gate_accepts(world, dora, reads_bob, state, action):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    form = decision_form(reads_bob.open(interrupt)).post()
    state(world, interrupt, dora)
    page = reads_bob.open(interrupt)

    response = reads_bob.post(interrupt, form, action)

    is_offered = re.search(rf'name="action"\s+value="{action}"', page) is not None
    assert is_offered == (state is leave_open)
    # AG-UI has programs cancel late; a page that leaves the end to the sweeper does not offer it.
    is_late_cancellation = state is let_pass and action == "cancel"
    assert (response.status_code == 303) == (is_offered or is_late_cancellation)


@pytest.mark.parametrize("state", [let_pass, expire])
def test_expired_request_says_so_in_place_of_its_buttons(world, dora, reads_bob, state):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    state(world, interrupt, dora)

    page = reads_bob.get(f"/interrupts/{interrupt.pk}/")

    assert "expired" in words(page)
    assert 'name="action"' not in page.content.decode()
