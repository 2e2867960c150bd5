"""One link pressed twice at once, and a link against the page: one decision."""

from datetime import timedelta
from functools import partial

import pytest

from inbox.actions.decisions.decide import decide
from inbox.actions.decisions.decide_by_link import decide_by_link
from inbox.actions.notifications.expansion import expand_announcements
from inbox.actions.notifications.messages import claim_message
from inbox.models import Channel, Decision, DecisionLink, Notification
from inbox.platform.clock import database_now
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import RequestRejected
from inbox.rules.runs.states import EntryStatus
from tests.support.notifications.decision_links import allow_links
from tests.support.notifications.subscribed import subscribe_person
from tests.support.races.concurrently import at_once, rounds
from tests.support.steps import APPROVE, DENY, open_interrupts, reread, start

pytestmark = pytest.mark.services


@pytest.fixture
def mailed(committed_world, race_bob, settings):
    """Return a function that opens a request, and returns it with the token of its link."""
    settings.PUBLIC_URL = "https://signoff.example.com"
    allow_links(committed_world)
    channel = subscribe_person(race_bob)

    def open_and_mail():
        (interrupt,) = open_interrupts(start(committed_world, "rehearse:tool_call"))
        expand_announcements()
        message = claim_message(channel_id=channel.pk)
        an_hour_ago = database_now() - timedelta(hours=1)
        Notification.objects.update(status="sent", settled_at=an_hour_ago)
        Channel.objects.update(lease_until=None, next_try_at=None)
        return interrupt, message.items[0].link_token

    return open_and_mail


def press(token, reason=None):
    return decide_by_link(token=token, reason=reason, signed_in=None, has_findings=False)


def results(outcomes):
    """Return how many decided, and how many were refused."""
    refused = [outcome for outcome in outcomes if isinstance(outcome, RequestRejected)]
    decided = [outcome for outcome in outcomes if isinstance(outcome, Decision)]
    assert len(refused) + len(decided) == len(outcomes), outcomes
    return len(decided), len(refused)


def test_a_link_pressed_twice_at_once_decides_once(mailed):
    for number in range(1, rounds(short=15, long=300) + 1):
        interrupt, token = mailed()

        outcomes = at_once([partial(press, token, reason) for reason in (None, "No.", None)])

        assert results(outcomes) == (1, 2)
        assert Decision.objects.filter(interrupt=interrupt).count() == 1
        assert DecisionLink.objects.exclude(used_at=None).count() == number


def test_a_link_and_the_page_at_once_decide_once(mailed, race_bob, erin):
    def on_the_page(interrupt, actor, payload):
        return decide(
            interrupt_id=interrupt.pk,
            status=EntryStatus.RESOLVED,
            payload=payload,
            view_digest=interrupt.shown_digest,
            actor=actor,
            entrance=Entrance.PAGE,
        )

    for _ in range(rounds(short=15, long=300)):
        interrupt, token = mailed()

        outcomes = at_once(
            [
                partial(press, token),
                partial(on_the_page, interrupt, race_bob, DENY),
                partial(on_the_page, interrupt, erin, APPROVE),
            ]
        )

        assert results(outcomes) == (1, 2)
        decision = Decision.objects.get(interrupt=interrupt)
        used = DecisionLink.objects.filter(interrupt=interrupt).exclude(used_at=None)
        assert used.count() == (decision.entrance == Entrance.LINK)
        assert reread(interrupt).status == "resolved"
