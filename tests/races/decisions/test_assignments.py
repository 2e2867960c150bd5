"""Assigning a request to somebody who leaves the team at the same moment."""

from functools import partial

import pytest

from inbox.actions.decisions.assignees import assign_interrupt
from inbox.actions.people.members import remove_member
from inbox.actions.people.provisioning import add_member
from inbox.models import Assignee
from inbox.rules.errors import InvalidValue
from inbox.rules.people.access import SEED, Role
from tests.support import steps
from tests.support.races.concurrently import at_once, failures, rounds

pytestmark = pytest.mark.services


def test_nobody_outside_of_the_team_is_assigned(committed_world, race_bob):
    world = committed_world
    for number in range(rounds(short=20, long=100)):
        (interrupt,) = steps.open_interrupts(steps.start(world, "rehearse:tool_call"))
        name = f"leaver{number}"
        user = add_member(
            team=world.team,
            username=name,
            full_name=name,
            password="p",
            role=Role.REVIEWER,
            actor=SEED,
        )

        outcomes = at_once(
            [
                partial(
                    assign_interrupt, interrupt_id=interrupt.pk, user_id=user.pk, actor=race_bob
                ),
                partial(remove_member, team_id=world.team.pk, user_id=user.pk, actor=SEED),
            ]
        )

        assert all(isinstance(failure, InvalidValue) for failure in failures(outcomes))
        assert not Assignee.objects.filter(user=user.pk).exists()
