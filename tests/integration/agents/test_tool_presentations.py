"""Presentations that a team chooses for tools: permissions, audit entries and limits."""

import pytest

from inbox.actions.agents import tool_presentations
from inbox.actions.agents.tool_presentations import (
    remove_tool_presentation,
    set_tool_presentation,
)
from inbox.models import AuditEntry, ToolPresentation
from inbox.queries.decisions.interrupts import detail_for
from inbox.rules.errors import Forbidden, InvalidValue, NotFound
from inbox.rules.people.access import SEED
from tests.support.steps import open_interrupts, start

MONEY = {"kind": "money", "values": {}}
PLAIN = {"kind": "generic", "values": {}}


def choose(world, body=MONEY, *, tool="refund", agent="", actor=SEED):
    return set_tool_presentation(
        team_id=world.team.pk, agent=agent, tool=tool, body=body, actor=actor
    )


def recorded():
    entries = AuditEntry.objects.filter(action__startswith="team.presentation").order_by("pk")
    return [entry.action for entry in entries]


def test_choosing_the_same_again_writes_no_audit_entry(world):
    first = choose(world)

    again = choose(world)

    assert again.pk == first.pk
    assert recorded() == ["team.presentation_set"]


def test_another_choice_replaces_the_one_of_the_tool(world):
    choose(world)

    choose(world, PLAIN)

    assert ToolPresentation.objects.get().read_body() == PLAIN
    assert recorded() == ["team.presentation_set"] * 2


def test_a_removed_presentation_is_gone_and_recorded(world):
    row = choose(world)

    remove_tool_presentation(presentation_id=row.pk, actor=SEED)

    assert not ToolPresentation.objects.exists()
    assert recorded() == ["team.presentation_set", "team.presentation_removed"]
    with pytest.raises(NotFound):
        remove_tool_presentation(presentation_id=row.pk, actor=SEED)


def test_only_administrators_of_the_team_choose(world, bob, carol):
    row = choose(world)

    with pytest.raises(Forbidden):
        choose(world, PLAIN, actor=bob)
    with pytest.raises(NotFound):
        choose(world, PLAIN, actor=carol)
    with pytest.raises(Forbidden):
        remove_tool_presentation(presentation_id=row.pk, actor=bob)
    with pytest.raises(NotFound):
        remove_tool_presentation(presentation_id=row.pk, actor=carol)


def test_an_agent_of_another_team_is_refused(world):
    with pytest.raises(InvalidValue, match="no agent"):
        choose(world, agent="nobody")


def test_a_team_has_a_limited_number_of_presentations(world, monkeypatch):
    monkeypatch.setattr(tool_presentations, "MAX_TOOL_PRESENTATIONS", 1)
    choose(world)

    choose(world, PLAIN)
    with pytest.raises(InvalidValue, match="at most 1"):
        choose(world, tool="other")


def test_the_presentation_of_the_agent_goes_before_that_of_all_agents(world, bob):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    def declared():
        return detail_for(bob, interrupt.pk).declared_for_tool

    assert declared() == {}
    choose(world, PLAIN, tool=interrupt.tool)
    assert declared() == PLAIN
    choose(world, MONEY, tool=interrupt.tool, agent="rehearsal")
    assert declared() == MONEY


def test_presentations_of_other_teams_do_not_apply(world, bob):
    from inbox.queries.people.teams import team_by_slug

    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    others = team_by_slug("others")

    set_tool_presentation(team_id=others.pk, agent="", tool=interrupt.tool, body=MONEY, actor=SEED)

    assert detail_for(bob, interrupt.pk).declared_for_tool == {}


def test_the_presentation_costs_no_further_query(world, bob, django_assert_num_queries):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    detail_for(bob, interrupt.pk)
    with CaptureQueriesContext(connection) as without:
        detail_for(bob, interrupt.pk)
    choose(world, MONEY, tool=interrupt.tool)

    with django_assert_num_queries(len(without)):
        assert detail_for(bob, interrupt.pk).declared_for_tool == MONEY
