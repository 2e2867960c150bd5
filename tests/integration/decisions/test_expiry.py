"""When requests expire: what the agent says, the team's default, and what clients are told."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from ag_ui.core import Interrupt

from agents.agui.interrupts import parse_expiry
from inbox.actions.decisions.expiry import expire_interrupts
from inbox.actions.people.members import change_team
from inbox.platform import clock
from inbox.rules.errors import InterruptExpired, InvalidValue
from inbox.rules.people.access import SEED
from tests.support.agents.agent_events import asking
from tests.support.audit.entries import audited
from tests.support.steps import (
    answer,
    open_interrupts,
    reread,
    start,
)


@pytest.fixture
def ask_with(world, as_agent):
    """Ask something; the fields say when it expires."""

    def ask(**fields):
        async def play(run_input, _context):
            yield asking(run_input, Interrupt(id="i", reason="input_required", **fields))

        (interrupt,) = open_interrupts(start(world, "go", agent=as_agent(play)))
        return interrupt

    return ask


def told_to_clients(interrupt):
    finished = json.loads(interrupt.run.events.order_by("-seq").first().body)
    (published,) = finished["outcome"]["interrupts"]
    return published.get("expiresAt")


def test_interrupt_without_an_expiry_gets_the_default_of_seven_days(ask_with):
    interrupt = ask_with()

    left = interrupt.expires_at - datetime.now(UTC)
    assert timedelta(days=6, hours=23) < left <= timedelta(days=7)
    assert parse_expiry(told_to_clients(interrupt)) == interrupt.expires_at
    assert json.loads(interrupt.body)["expiresAt"] == told_to_clients(interrupt)


def test_null_that_the_agent_wrote_means_no_expiry(ask_with):
    interrupt = ask_with(expires_at=None)

    assert interrupt.expires_at is None
    assert told_to_clients(interrupt) is None


def test_expiry_of_years_is_enforced_as_it_was_told(ask_with):
    at = "2036-11-22T09:00:00.123Z"

    interrupt = ask_with(expires_at=at)

    assert told_to_clients(interrupt) == at
    assert interrupt.expires_at == datetime(2036, 11, 22, 9, 0, 0, 123_000, tzinfo=UTC)


def test_expiry_is_enforced_at_the_moment_that_clients_were_told(ask_with, bob, monkeypatch):
    interrupt = ask_with(response_schema={"type": "string"})
    expiry = parse_expiry(told_to_clients(interrupt))

    monkeypatch.setattr(clock, "_read_clock", lambda: expiry)
    with pytest.raises(InterruptExpired):
        answer(interrupt, bob, "late")
    monkeypatch.setattr(clock, "_read_clock", lambda: expiry - timedelta(microseconds=1))
    assert expire_interrupts(thread_id=interrupt.thread_id) == 0
    monkeypatch.setattr(clock, "_read_clock", lambda: expiry)
    assert expire_interrupts(thread_id=interrupt.thread_id) == 1


def test_an_answer_just_before_that_moment_counts(ask_with, bob, monkeypatch):
    interrupt = ask_with(response_schema={"type": "string"})
    expiry = parse_expiry(told_to_clients(interrupt))
    monkeypatch.setattr(clock, "_read_clock", lambda: expiry - timedelta(microseconds=1))

    answer(interrupt, bob, "in time")

    assert reread(interrupt).status == "resolved"


def test_team_sets_the_default_for_requests_that_come_later(ask_with, world):
    before = ask_with()

    change_team(team_id=world.team.pk, request_expiry_hours=1, actor=SEED)
    after = ask_with()

    assert after.expires_at - datetime.now(UTC) <= timedelta(hours=1)
    assert reread(before).expires_at == before.expires_at
    ((_, content),) = audited("team.expiry_set")
    assert content == {"hours": 1}


def test_team_without_a_default_has_requests_that_do_not_expire(ask_with, world):
    change_team(team_id=world.team.pk, request_expiry_hours=0, actor=SEED)

    interrupt = ask_with()

    assert interrupt.expires_at is None
    assert told_to_clients(interrupt) is None


@pytest.mark.parametrize("hours", [-1, 87_601])
def test_default_outside_of_its_bounds_is_refused(world, hours):
    with pytest.raises(InvalidValue):
        change_team(team_id=world.team.pk, request_expiry_hours=hours, actor=SEED)


def test_time_that_no_calendar_has_fails_the_run(world, as_agent):
    async def play(run_input, _context):
        interrupt = Interrupt(
            id="i", reason="input_required", expires_at="9999-12-31T23:59:59-01:00"
        )
        yield asking(run_input, interrupt)

    run = start(world, "go", agent=as_agent(play))

    assert reread(run).error_code == "PROTOCOL_VIOLATION"
