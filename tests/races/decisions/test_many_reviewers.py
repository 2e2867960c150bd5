"""Many reviewers at one interrupt: one wins, and everybody else learns who."""

from functools import partial

import pytest

from inbox.models import AuditEntry, Decision, Run
from inbox.rules.errors import AlreadyDecided
from tests.support import steps
from tests.support.races.concurrently import at_once, failures, rounds

pytestmark = pytest.mark.services

REVIEWERS = 50


@pytest.fixture
def crowd(committed_world):
    from inbox.actions.people.provisioning import add_member
    from inbox.rules.people.access import SEED, Role

    return [
        committed_world.actor(
            add_member(
                team=committed_world.team,
                username=f"reviewer{number}",
                full_name=f"Reviewer {number}",
                password="not used here",
                role=Role.REVIEWER,
                actor=SEED,
            )
        )
        for number in range(REVIEWERS)
    ]


def test_one_of_fifty_reviewers_wins_and_the_others_are_told_who(committed_world, crowd):
    for _ in range(rounds(short=2, long=20)):
        run = steps.start(committed_world, "rehearse:tool_call")
        (interrupt,) = steps.open_interrupts(run)

        outcomes = at_once([partial(steps.approve, interrupt, actor) for actor in crowd])

        late = failures(outcomes)
        (winner,) = [outcome for outcome in outcomes if isinstance(outcome, Decision)]
        assert len(late) == REVIEWERS - 1
        assert {type(error) for error in late} == {AlreadyDecided}
        assert {error.detail["by"] for error in late} == {winner.actor_label}
        assert Decision.objects.filter(interrupt=interrupt).count() == 1
        entries = AuditEntry.objects.filter(interrupt=interrupt).select_related("payload")
        by_action = {action: [] for action in ("interrupt.resolved", "interrupt.refused")}
        for entry in entries.exclude(action="interrupt.opened"):
            by_action[entry.action].append(entry.content["actor"])
        assert by_action["interrupt.resolved"] == [winner.actor_label]
        assert len(set(by_action["interrupt.refused"])) == REVIEWERS - 1
        assert Run.objects.filter(resumes=run).count() == 1
