"""The lists as the selectors give them: order, pages, access, and what the databases do for it."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inbox.actions.people.provisioning import add_member, ensure_agent, ensure_team
from inbox.models import Claim, Interrupt, Membership
from inbox.queries.decisions import inbox_lists
from inbox.queries.decisions.inbox_lists import (
    COUNT_UP_TO,
    choices_for,
    counts_for,
    list_for,
    similar_count,
)
from inbox.rules.decisions.list_filters import InterruptFilter, ListState, Sort
from inbox.rules.people.access import SEED, Role
from tests.support.steps import (
    approve,
    call_off,
    deny,
    open_interrupts,
    start,
)


def listed(actor, limit=50, after=None, **filters):
    page = list_for(actor, InterruptFilter(**filters), now=timezone.now(), limit=limit, after=after)
    return [row.pk for row in page.rows]


def expire_in(row, time):
    at = timezone.now() + time
    Interrupt.objects.filter(pk=row.pk).update(expires_at=at, due_at=at)


def claim(row, user, until=timedelta(minutes=5)):
    now = timezone.now()
    Claim.objects.create(interrupt=row, user=user, claimed_at=now, until=now + until)


@pytest.fixture
def interrupts(world):
    """Five open questions in the order asked."""
    return open_interrupts(start(world, "rehearse:parallel:5"))


@pytest.fixture
def in_two_teams(world):
    """Somebody of two teams, an open question in each, and the team that is not the world's."""
    other = ensure_team(slug="second", name="Second", actor=SEED)
    agent = ensure_agent(
        team=other, slug="second", implementation="rehearsal", description="", actor=SEED
    )
    dora = add_member(
        team=other, username="dora", full_name="Dora", password="d", role=Role.REVIEWER, actor=SEED
    )
    Membership.objects.create(team=world.team, user=dora, role=Role.REVIEWER)
    return world.actor(dora), agent


# -- order and pages ------------------------------------------------------------------------------


@pytest.mark.parametrize("sort", Sort)
def test_what_waits_comes_in_the_order_asked_for(interrupts, bob, sort):
    soonest = interrupts[3]
    expire_in(soonest, timedelta(minutes=1))

    ids = [row.pk for row in interrupts]
    first = soonest.pk
    expected = {
        Sort.DUE: [first, *(pk for pk in ids if pk != first)],
        Sort.OLD: ids,
        Sort.NEW: ids[::-1],
    }
    assert listed(bob, sort=sort) == expected[sort]


@pytest.mark.parametrize("state", [ListState.OPEN, ListState.DECIDED, ListState.ALL])
@pytest.mark.parametrize("sort", Sort)
def test_pages_follow_one_another_without_a_gap_or_a_repetition(interrupts, bob, state, sort):
    if state is not ListState.OPEN:
        for row in interrupts[:4]:
            approve(row, bob)

    all_ids = listed(bob, state=state, sort=sort)
    parts, after = [], None
    while page := listed(bob, limit=2, after=after, state=state, sort=sort):
        parts += page
        after = Interrupt.objects.get(pk=page[-1])

    assert parts == all_ids
    assert len(all_ids) == {ListState.OPEN: 5, ListState.DECIDED: 4, ListState.ALL: 5}[state]


def test_a_page_says_whether_there_is_more(interrupts, bob):
    first = list_for(bob, InterruptFilter(), now=timezone.now(), limit=4)

    assert first.after == first.rows[-1].pk
    assert list_for(bob, InterruptFilter(), now=timezone.now(), limit=5).after is None


def test_the_lists_of_several_teams_are_one_list(world, interrupts, in_two_teams):
    dora, agent = in_two_teams
    expire_in(interrupts[0], timedelta(minutes=3))
    soon, never = [
        row
        for scenario in ("confirmation", "custom_reason")
        for row in open_interrupts(start(world, f"rehearse:{scenario}", agent=agent, actor=dora))
    ]
    expire_in(soon, timedelta(minutes=1))

    all_ids = listed(dora)

    assert all_ids == [soon.pk, *(row.pk for row in interrupts), never.pk]
    first = listed(dora, limit=3)
    assert first + listed(dora, after=Interrupt.objects.get(pk=first[-1])) == all_ids
    assert listed(dora, sort=Sort.NEW, limit=2) == [never.pk, soon.pk]
    assert listed(dora, team="second") == [soon.pk, never.pk]
    assert listed(dora, agent="second") == [soon.pk, never.pk]


# -- what a filter leaves -------------------------------------------------------------------------


def test_each_filter_leaves_what_it_says(world, interrupts, bob, alice):
    (question,) = open_interrupts(start(world, "rehearse:confirmation"))
    expire_in(question, timedelta(minutes=9))
    calls = [row.pk for row in interrupts]

    assert listed(bob, agent="rehearsal", tool="send_email") == calls
    assert listed(bob, tool="send_emai") == []
    assert listed(bob, reason="confirmation") == [question.pk]
    assert listed(bob, team="tests", expiring=True) == [question.pk]
    for filters in ({"agent": "nobody"}, {"team": "nobody"}, {"team": "others"}):
        assert listed(bob, **filters) == []


def test_mine_is_what_i_claimed_and_what_i_decided(world, interrupts, bob, alice):
    claim(interrupts[0], world.bob)
    claim(interrupts[1], world.alice)
    claim(interrupts[2], world.bob, until=timedelta(seconds=-1))
    approve(interrupts[3], bob)

    assert listed(bob, mine=True) == [interrupts[0].pk]
    assert listed(bob, mine=True, state=ListState.DECIDED) == [interrupts[3].pk]
    assert set(listed(bob, mine=True, state=ListState.ALL)) == {interrupts[0].pk, interrupts[3].pk}
    assert listed(alice, mine=True, state=ListState.DECIDED) == []


def test_the_states_tell_how_something_was_closed(interrupts, bob):
    approve(interrupts[0], bob)
    deny(interrupts[1], bob)
    call_off(interrupts[2], bob)

    assert len(listed(bob, state=ListState.DECIDED)) == 3
    assert listed(bob, state=ListState.CANCELLED) == [interrupts[2].pk]
    assert listed(bob, state=ListState.EXPIRED) == []
    assert len(listed(bob, state=ListState.ALL)) == 5


@pytest.mark.parametrize(
    "text", ["INVOICE", "dana@EXAMPLE.com", "send_email invoice dana", "subject", "voic dana"]
)
def test_a_search_finds_what_has_every_word(world, bob, text):
    (row,) = open_interrupts(start(world, "rehearse:tool_call"))
    start(world, "rehearse:confirmation")

    assert listed(bob, text=text) == [row.pk]
    assert listed(bob, text=f"{text} elsewhere") == []


def searched(actor, **filters):
    """What a search finds, page by page: the rows of each, and whether it is cut."""
    pages, after = [], None
    while True:
        page = list_for(actor, InterruptFilter(**filters), now=timezone.now(), limit=2, after=after)
        pages.append(([row.pk for row in page.rows], page.is_cut))
        if page.after is None:
            return pages
        after = Interrupt.objects.get(pk=page.after)


@pytest.mark.parametrize("state", [ListState.OPEN, ListState.DECIDED, ListState.ALL])
@pytest.mark.parametrize("sort", Sort)
@pytest.mark.parametrize("looked_at", [1, 2, 3, 5])
def test_search_looks_at_so_many_rows_and_goes_on_from_there(
    world, interrupts, in_two_teams, bob, monkeypatch, state, sort, looked_at
):
    dora, agent = in_two_teams
    other = open_interrupts(start(world, "rehearse:parallel:3", agent=agent, actor=dora))
    if state is not ListState.OPEN:
        for row in interrupts:
            approve(row, bob)
        for row in other:
            approve(row, dora)
    Interrupt.objects.filter(pk__in=[interrupts[1].pk, interrupts[4].pk, other[2].pk]).update(
        search_text="needle"
    )
    all_ids = listed(dora, state=state, sort=sort, text="needle")
    monkeypatch.setattr(inbox_lists, "MAX_ROWS_SEARCHED", looked_at)

    pages = searched(dora, state=state, sort=sort, text="needle")

    assert [pk for rows, _ in pages for pk in rows] == all_ids
    assert len(all_ids) == 3


def test_search_for_what_is_not_there_ends_with_the_rows_of_one_page(interrupts, bob, monkeypatch):
    monkeypatch.setattr(inbox_lists, "MAX_ROWS_SEARCHED", 2)

    assert searched(bob, text="nowhere") == [([], True), ([], True), ([], False)]


@pytest.mark.parametrize("text", ["%", "__", "\\", "a%e", "d_na", "'", '"', "*", "İ", "ß" * 50])
def test_no_character_of_a_search_means_anything_but_itself(interrupts, bob, text):
    assert listed(bob, text=text) == []


def test_nobody_sees_the_lists_of_a_team_that_is_not_theirs(interrupts, carol):
    for state in ListState:
        for sort in Sort:
            assert listed(carol, state=state, sort=sort) == []
    assert listed(carol, agent="rehearsal") == listed(carol, team="tests") == []
    assert counts_for(carol, now=timezone.now()).pending == 0
    choices = choices_for(carol, state=ListState.OPEN)
    assert (choices.agents, choices.tools, choices.reasons) == ([], [], [])


# -- counts and choices ---------------------------------------------------------------------------


def test_counts_of_pending_ones_go_on_where_those_of_similar_ones_stop(world, bob):
    run = start(world, "rehearse:parallel:120")
    first, *_ = open_interrupts(run)
    expire_in(first, timedelta(minutes=2))
    claim(first, world.bob)

    counts = counts_for(bob, now=timezone.now())

    assert (counts.pending, counts.claimed, counts.expiring) == (120, 1, 1)
    assert similar_count(first) == COUNT_UP_TO


def test_the_choices_are_the_names_that_occur(world, interrupts, bob):
    start(world, "rehearse:confirmation")

    choices = choices_for(bob, state=ListState.OPEN)
    decided = choices_for(bob, state=ListState.DECIDED)

    assert choices.agents == ["rehearsal"]
    assert choices.tools == ["send_email"]
    assert choices.reasons == ["confirmation", "tool_call"]
    assert choices.teams == [("tests", "Tests")]
    assert (decided.tools, decided.reasons) == ([], [])


def test_requests_are_similar_if_only_their_values_differ(world, interrupts, bob):
    (other,) = open_interrupts(start(world, "rehearse:confirmation"))

    assert similar_count(interrupts[0]) == 4
    approve(interrupts[1], bob)
    assert similar_count(interrupts[0]) == 3
    assert similar_count(other) == 0


# -- what the databases do for it -----------------------------------------------------------------


def test_a_page_takes_as_many_queries_for_many_rows_as_for_one(world, bob):
    start(world, "rehearse:parallel:1")
    with CaptureQueriesContext(
        connection,
    ) as few:
        listed(bob)
    start(world, "rehearse:parallel:30")
    with CaptureQueriesContext(connection) as many:
        assert len(listed(bob)) == 31

    assert len(many) == len(few) == 3


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({}, "pending_by_expiry"),
        ({"expiring": True}, "pending_by_expiry"),
        ({"sort": Sort.NEW}, "pending_by_time"),
        ({"sort": Sort.OLD}, "pending_by_time"),
        ({"agent": "rehearsal"}, "pending_of_agent"),
        ({"tool": "send_email"}, "pending_of_tool"),
        ({"reason": "tool_call"}, "pending_of_reason"),
        ({"state": ListState.DECIDED}, "decided_by_time"),
        ({"state": ListState.DECIDED, "sort": Sort.OLD}, "decided_by_time"),
        ({"state": ListState.CANCELLED}, "decided_by_status"),
        ({"state": ListState.EXPIRED}, "decided_by_status"),
        ({"state": ListState.DECIDED, "agent": "rehearsal"}, "decided_of_agent"),
        ({"state": ListState.DECIDED, "tool": "send_email"}, "decided_of_tool"),
        ({"state": ListState.DECIDED, "reason": "tool_call"}, "decided_of_reason"),
        ({"state": ListState.DECIDED, "mine": True}, "decided_by_person"),
        ({"state": ListState.ALL}, "asked_of_a_team"),
    ],
    ids=str,
)
def test_a_first_page_is_read_from_an_index_in_its_order(interrupts, bob, filters, index):
    plan = plan_of_the_page(bob, InterruptFilter(**filters))

    assert index in plan
    assert not re.search(r"SCAN (?!CONSTANT)|Seq Scan|Sort|TEMP B-TREE", plan)


def test_the_names_to_choose_from_are_steps_in_an_index(interrupts, bob):
    with CaptureQueriesContext(connection) as queries:
        choices_for(bob, state=ListState.OPEN)
    tools = next(query["sql"] for query in queries if "RECURSIVE" in query["sql"])

    plan = explain(tools)

    assert "pending_of_tool" in plan
    assert "SCAN inbox_interrupt" not in plan
    assert "Seq Scan on inbox_interrupt" not in plan


def plan_of_the_page(actor, filters):
    with CaptureQueriesContext(connection) as queries:
        list_for(actor, filters, now=timezone.now())
    page = next(query["sql"] for query in queries if "LIMIT 51" in query["sql"])
    return explain(page)


def explain(statement):
    """How the database would do it; small tables are scanned, so that PostgreSQL is told not to."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # For a few rows all indexes cost the same; the planner scales these by the real pages.
            cursor.execute(
                "UPDATE pg_class SET relpages = 1, reltuples = 1000000 "
                "WHERE relname = 'inbox_interrupt'"
            )
            for way in ("seqscan", "bitmapscan", "sort", "incremental_sort"):
                cursor.execute(f"SET LOCAL enable_{way} = off")
            cursor.execute(f"EXPLAIN {statement}")
            return "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute(f"EXPLAIN QUERY PLAN {statement}")
        return "\n".join(row[-1] for row in cursor.fetchall())
