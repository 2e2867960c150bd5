"""Callers of every kind, and one of each resource that they may ask for."""

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession

from inbox.queries.people.teams import team_by_slug
from tests.support.audit.logs import keep_in
from tests.support.files.samples import png
from tests.support.files.sending import sent
from tests.support.policies.published import publish, rule, tool_is
from tests.support.requests.programs import Program, make_program
from tests.support.security.callers import make_callers
from tests.support.security.routes import Things
from tests.support.steps import open_interrupts, start


@pytest.fixture
def callers(world):
    return make_callers(world.team, team_by_slug("others"))


@pytest.fixture
def things(world, bob, settings, tmp_path):
    """One of each thing of the team: an open and an answered question, a busy run, a view."""
    from inbox import transparency_log
    from inbox.actions.agents.remote_agents import set_remote_agent
    from inbox.actions.agents.tool_presentations import set_tool_presentation
    from inbox.actions.decisions.saved_views import save_view
    from inbox.actions.notifications.chat_accounts import issue_link_code, link_chat_account
    from inbox.actions.notifications.team_channels import ChatSettings, add_chat
    from inbox.actions.people.api_keys import make_key
    from inbox.actions.people.groups import create_group
    from inbox.actions.people.invitations import invite
    from inbox.actions.policies.versions import save_draft
    from inbox.actions.runs.start_run import start_run
    from inbox.actions.webhooks.deliveries import send_test
    from inbox.actions.webhooks.endpoints import add_webhook
    from inbox.rules.decisions.list_filters import InterruptFilter
    from inbox.rules.people.access import SEED, Role
    from tests.support.policies.published import approve_with_grant
    from tests.support.steps import request

    (closed,) = open_interrupts(start(world, "rehearse:tool_call"))
    grant_id = approve_with_grant(closed, bob)
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    busy = start_run(
        agent=world.agent, request=request("rehearse:echo"), actor=world.actor(world.alice)
    )
    view = save_view(
        name="view", list_filter=InterruptFilter(mine=True), actor=bob, team_id=world.team.pk
    )
    # Nobody may connect there: a test of it is refused before anything is sent.
    place = {"slug": "elsewhere", "url": "https://127.0.0.1:1/", "headers": {"X-Key": "a secret"}}
    remote = set_remote_agent(team_id=world.team.pk, actor=SEED, **place).agent
    # Nobody sends anything there: it is only written down.
    hook, _ = add_webhook(
        team_id=world.team.pk,
        url="https://hooks.example.com/a-secret-path",
        event_types=["run.finished"],
        actor=SEED,
    )
    key, _ = make_key(team_id=world.team.pk, name="ours", scopes=["admin"], actor=SEED)
    invitation, _ = invite(
        team_id=world.team.pk, email="dana@example.com", role=Role.VIEWER, actor=SEED, site=""
    )
    group = create_group(team_id=world.team.pk, name="finance", actor=SEED)
    presentation = set_tool_presentation(
        team_id=world.team.pk, agent="", tool="write", body={"kind": "command"}, actor=SEED
    )
    message = send_test(endpoint_id=hook.pk, actor=SEED)
    chat = add_chat(
        team_id=world.team.pk,
        kind="slack",
        values=ChatSettings("#ops", "https://hooks.example.com/", ["opened"], "at_once", 5),
        language="en",
        actor=SEED,
    )
    code = issue_link_code(team_id=world.team.pk, workspace="T0", external_id="U0", name="bob")
    identity = link_chat_account(code=code, account="U0", actor=bob)
    publish(world, rule("reads", "ask", tool_is("read")))
    office = {"zone": "UTC", "week": {"mon": [["09:00", "17:00"]]}}
    rules = [rule("writes", "ask", tool_is("write"))]
    draft = {"rules": rules, "calendars": {"office": office}}
    policy_digest = save_draft(team_id=world.team.pk, body=draft, actor=SEED).digest
    keep_in(settings, tmp_path)
    transparency_log.append_and_sign()
    # Bob's, and nobody else's to see or to end.
    session = UserSession.objects.create(
        pk=47119991, user=world.bob, ip="192.0.2.1", session_key="bobs-session"
    )
    passkey = Authenticator.objects.create(
        pk=47119992, user=world.bob, type="webauthn", data={"name": "Bob"}
    )
    agent_request = Program(make_program(world, "asking-ci")).ask()
    return Things(
        request_id=agent_request["id"],
        asking="asking-ci",
        session_id=str(session.pk),
        passkey_id=str(passkey.pk),
        interrupt_id=str(interrupt.pk),
        thread_id=str(interrupt.thread_id),
        run_id=str(busy.run.pk),
        slug="rehearsal",
        view_digest=interrupt.view_digest,
        policy_digest=policy_digest,
        view_id=str(view.pk),
        webhook_id=str(hook.pk),
        message_id=str(message.message_id),
        remote=remote.slug,
        team=world.team.slug,
        key_id=str(key.pk),
        group=group.name,
        call_id=str(interrupt.tool_call_id),
        user=str(world.alice.pk),
        invitation_id=str(invitation.pk),
        grant_id=str(grant_id),
        file_id=sent(world.key, png(), "photo.png")["id"],
        presentation_id=str(presentation.pk),
        channel_id=str(chat.pk),
        identity_id=str(identity.pk),
        seen_at=remote.endpoint.changed_at.isoformat(),
    )
