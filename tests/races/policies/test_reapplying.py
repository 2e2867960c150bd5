"""Applying a changed policy while people decide."""

from functools import partial

import pytest

from inbox.actions.policies.reapply import reapply_to_thread
from inbox.models import Decision, Ruling, Run
from inbox.rules import errors
from tests.support import steps
from tests.support.policies.published import administrator, publish, rule, tool_is
from tests.support.races.concurrently import at_once, failures, rounds

pytestmark = pytest.mark.services

EMAIL = tool_is("send_email")
TWO = rule("two", "ask", EMAIL, require={"slots": [{"role": "reviewer"}, {"role": "reviewer"}]})
LATE = (errors.AlreadyDecided, errors.ViewChanged)


@pytest.fixture
def erin(committed_world):
    return administrator(committed_world)


@pytest.mark.parametrize("effect", ["allow", "deny"])
def test_a_person_or_the_changed_policy_decides_once(committed_world, erin, effect):
    world = committed_world
    bob = world.actor(world.bob)
    for number in range(rounds(short=3, long=100)):
        run = steps.start(world, "rehearse:tool_call")
        (interrupt,) = steps.open_interrupts(run)
        publish(world, rule(f"r{number}", effect, EMAIL))

        outcomes = at_once(
            [
                partial(steps.approve, interrupt, bob),
                partial(reapply_to_thread, thread_id=run.thread_id, actor=erin),
                partial(reapply_to_thread, thread_id=run.thread_id, actor=erin),
            ]
        )

        assert all(isinstance(error, LATE) for error in failures(outcomes))
        assert Decision.objects.filter(interrupt=interrupt).count() == 1
        assert Run.objects.filter(resumes=run).count() == 1
        assert Ruling.objects.filter(interrupt=interrupt).count() <= 2
        publish(world, rule(f"none-{number}", "ask", tool_is("other")))


def test_an_approval_counts_only_for_the_requirement_that_was_displayed(committed_world, erin):
    world = committed_world
    bob = world.actor(world.bob)
    for number in range(rounds(short=3, long=100)):
        run = steps.start(world, "rehearse:tool_call")
        (interrupt,) = steps.open_interrupts(run)
        publish(world, {**TWO, "id": f"two-{number}"})

        outcomes = at_once(
            [
                partial(steps.approve, interrupt, bob),
                partial(reapply_to_thread, thread_id=run.thread_id, actor=erin),
            ]
        )

        assert all(isinstance(error, LATE) for error in failures(outcomes))
        row = steps.reread(interrupt)
        has_endorsement = row.status == "open" and row.people_needed == 2
        assert row.status == "resolved" or has_endorsement
        assert Run.objects.filter(resumes=run).count() == (row.status == "resolved")
        publish(world, rule(f"none-{number}", "ask", tool_is("other")))
