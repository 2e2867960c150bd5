"""Agents that are paused: by an administrator, or because they ask beyond their limits."""

import pytest

from inbox import engine
from inbox.actions.agents.pauses import pause_flooding_agent, set_paused
from inbox.actions.notifications.expansion import expand_announcements
from inbox.actions.notifications.messages import claim_message
from inbox.actions.runs.run_lease import claim_run
from inbox.actions.runs.start_run import start_run
from inbox.models import Agent, Announcement, AuditEntry, Notification, Run
from inbox.queries.notifications.recipients import team_of
from inbox.queries.runs.queued_runs import queued_runs
from inbox.rules import errors
from inbox.rules.people.access import SEED
from inbox.sending.message_subjects import subject_of
from inbox.sending.message_texts import text_of
from tests.support import steps
from tests.support.steps import request


@pytest.fixture
def paused(world):
    return set_paused(slug=world.agent.slug, is_paused=True, actor=SEED)


def actions():
    entries = AuditEntry.objects.filter(action__startswith="agent.").order_by("pk")
    return [entry.action for entry in entries if entry.action != "agent.added"]


def test_a_paused_agent_starts_nothing_new(paused, alice):
    with pytest.raises(errors.AgentPaused):
        start_run(agent=paused, request=request(""), actor=alice)

    assert not Run.objects.exists()


def test_a_resumed_agent_starts_again(paused, alice, world):
    agent = set_paused(slug=paused.slug, is_paused=False, actor=SEED)

    assert start_run(agent=agent, request=request(""), actor=alice).run.status == "queued"


def test_queued_runs_of_a_paused_agent_wait(world, alice):
    run = start_run(agent=world.agent, request=request("rehearse:echo"), actor=alice).run
    set_paused(slug=world.agent.slug, is_paused=True, actor=SEED)

    engine.execute_run(run.pk)
    assert steps.reread(run).status == "queued"
    assert queued_runs(most=10) == []

    set_paused(slug=world.agent.slug, is_paused=False, actor=SEED)
    engine.execute_run(run.pk)
    assert steps.reread(run).status == "succeeded"


def test_a_paused_agent_executes_what_was_approved(world, bob):
    run = steps.start(world, "rehearse:tool_call")
    set_paused(slug=world.agent.slug, is_paused=True, actor=SEED)
    steps.approve(steps.open_interrupts(run)[0], bob)
    resume = Run.objects.get(resumes=run)

    assert [row.run_id for row in queued_runs(most=10)] == [resume.pk]
    assert claim_run(run_id=resume.pk)


def test_pauses_are_audited_once(world):
    for is_paused in (True, True, False, False):
        set_paused(slug=world.agent.slug, is_paused=is_paused, actor=SEED)

    assert actions() == ["agent.paused", "agent.resumed"]


def test_only_administrators_pause_agents(world, bob):
    with pytest.raises(errors.Forbidden):
        set_paused(slug=world.agent.slug, is_paused=True, actor=bob)


def test_a_flooding_agent_is_paused_and_announced_once(world):
    assert pause_flooding_agent(agent_id=world.agent.pk)
    assert not pause_flooding_agent(agent_id=world.agent.pk)

    agent = Agent.objects.get(pk=world.agent.pk)
    assert agent.pause_reason == "flood"
    announcement = Announcement.objects.get()
    assert (announcement.kind, announcement.agent) == ("agent_paused", agent)
    assert team_of(announcement) == world.team.pk
    assert actions() == ["agent.paused"]


def test_administrators_get_a_mail_about_a_flooding_agent(world):
    from allauth.account.models import EmailAddress

    from inbox.actions.people.provisioning import add_member
    from inbox.rules.people.access import Role

    ana = add_member(
        team=world.team, username="ana", full_name="Ana", password="p", role=Role.ADMIN, actor=SEED
    )
    EmailAddress.objects.create(user=ana, email="ana@example.com", verified=True, primary=True)
    pause_flooding_agent(agent_id=world.agent.pk)
    expand_announcements()

    message = claim_message(channel_id=Notification.objects.get().channel_id)

    assert subject_of(message) == "The agent rehearsal was paused"
    (block,) = text_of(message, most_blocks=5).blocks
    assert ("Agent", "rehearsal") in block.facts
