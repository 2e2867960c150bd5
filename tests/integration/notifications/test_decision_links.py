"""Links to decide in mails: which requests get one, for whom, and until when."""

from dataclasses import replace
from datetime import timedelta
from hashlib import sha256

import pytest
from django.core import mail

from inbox.actions.decisions.decide import decide
from inbox.actions.decisions.decide_by_link import decide_by_link
from inbox.actions.notifications.announcements import delete_old_announcements
from inbox.actions.notifications.decision_links import use_link
from inbox.actions.notifications.expansion import expand_announcements
from inbox.actions.notifications.messages import SendResult, claim_message, record_message
from inbox.models import AuditEntry, Channel, Decision, DecisionLink, Interrupt, Team
from inbox.platform.clock import database_now
from inbox.queries.notifications.links import actor_of_link, link_of
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.notifications.events import SendProblem
from inbox.rules.runs.states import EntryStatus
from tests.support.notifications.chat_server import run_chat_server
from tests.support.notifications.decision_links import allow_links, mailed_link, tokens_in
from tests.support.notifications.subscribed import add_team_chat, send_all, subscribe_person
from tests.support.policies.published import publish, rule
from tests.support.policies.refunds import SCHEMA, proposals
from tests.support.steps import APPROVE, open_interrupts, start


@pytest.fixture(autouse=True)
def _address(settings):
    settings.PUBLIC_URL = "https://signoff.example.com"


@pytest.fixture
def mail_about(world, bob, as_agent):
    """Return a function that lets an agent propose a call, and returns Bob's links in the mail."""

    def propose(args, **options):
        subscribe_person(bob)
        start(world, "go", agent=as_agent(proposals([args], **options)))
        send_all()
        return tokens_in(str(mail.outbox[-1].body))

    return propose


def press_button(token, reason=None):
    return decide_by_link(token=token, reason=reason, signed_in=None, has_findings=False)


def test_the_mail_has_a_link_and_the_database_only_its_sha256(world, bob):
    allow_links(world)

    interrupt, token = mailed_link(world, bob)

    row = DecisionLink.objects.get()
    assert row.token_digest == sha256(token.encode()).hexdigest()
    assert (row.interrupt_id, row.user_id) == (interrupt.pk, bob.user_id)
    assert row.view_digest == interrupt.shown_digest
    html = str(mail.outbox[0].alternatives[0][0])
    for text in (str(mail.outbox[0].body), html):
        assert f"https://signoff.example.com/decide/{token}/" in text
        assert f"https://signoff.example.com/interrupts/{interrupt.pk}/" in text
        assert "Do not forward this mail" in text
    entry = AuditEntry.objects.get(action="link.issued")
    assert entry.content["detail"] == {"to": "Bob", "user": str(bob.user_id)}


@pytest.mark.parametrize(
    ("expires_in", "lifetime"),
    [(None, timedelta(hours=24)), (timedelta(hours=2), timedelta(hours=2))],
)
def test_a_link_lasts_a_day_or_until_the_request_expires(world, bob, expires_in, lifetime):
    allow_links(world)
    subscribe_person(bob)
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    expiry = expires_in and interrupt.created_at + expires_in
    Interrupt.objects.filter(pk=interrupt.pk).update(expires_at=expiry)

    send_all()

    row = DecisionLink.objects.get()
    assert row.expires_at == (expiry or row.created_at + lifetime)


@pytest.mark.parametrize(
    "require",
    [
        None,
        {},
        {"via": ["web", "rest", "agui"]},
        {"via": ["link"], "fresh_sign_in_minutes": 5},
        {"via": ["link"], "slots": [{"role": "reviewer"}, {"role": "reviewer"}]},
    ],
    ids=["no policy", "no ways", "other ways", "fresh sign-in", "two people"],
)
def test_no_link_where_the_policy_does_not_allow_it(world, mail_about, require):
    if require is not None:
        publish(world, rule("mailed", "ask", require=require))

    assert mail_about({"amount": 35}) == []
    assert not DecisionLink.objects.exists()


@pytest.mark.parametrize(
    ("args", "options"),
    [
        ({"amount": 35, "password": "hunter2hunter2"}, {}),
        ({"amount": 35, "to": "p\u0430ypal.com"}, {}),
        ({"amount": 35, "note": "x\u200by"}, {}),
        ({"note": "x" * 1001}, {}),
        ({f"line {number}": number for number in range(39)}, {}),
        ({"amount": 35}, {"schema": {**SCHEMA, "required": ["approved", "account"]}}),
        ({"amount": 35}, {"schema": {**SCHEMA, "required": ["approved", "reason"]}}),
        (
            {"amount": 35},
            {
                "schema": {
                    "type": "object",
                    "properties": {"approved": {"const": True}},
                    "required": ["approved"],
                }
            },
        ),
        (
            {"amount": 35},
            {
                "schema": {
                    "type": "object",
                    "properties": {"approved": {"type": "boolean"}},
                    "required": ["approved"],
                    "additionalProperties": False,
                }
            },
        ),
    ],
    ids=[
        *("masked", "lookalike", "hidden", "long", "folded", "needs a field", "needs a note"),
        *("cannot be rejected", "takes no reason"),
    ],
)
def test_no_link_where_the_page_would_not_show_all(world, mail_about, args, options):
    allow_links(world)

    assert mail_about(args, **options) == []
    assert not DecisionLink.objects.exists()


@pytest.mark.parametrize("scenario", ["input_required", "confirmation", "custom_reason"])
def test_no_link_for_requests_that_need_another_answer(world, bob, scenario):
    allow_links(world)
    subscribe_person(bob)
    start(world, f"rehearse:{scenario}")

    send_all()

    assert tokens_in(str(mail.outbox[-1].body)) == []


def test_no_link_where_the_people_needed_are_only_in_the_ruling(world, bob):
    slots = [{"role": "reviewer"}, {"role": "reviewer"}]
    allow_links(world, slots=slots)
    subscribe_person(bob)
    start(world, "rehearse:tool_call")
    Interrupt.objects.update(people_needed=1)

    send_all()

    assert mail.outbox
    assert not DecisionLink.objects.exists()


def test_no_link_to_a_person_by_another_way_than_mail(world, bob):
    allow_links(world)
    channel = subscribe_person(bob)
    start(world, "rehearse:tool_call")
    expand_announcements()
    Channel.objects.filter(pk=channel.pk).update(kind="slack", address="x")

    message = claim_message(channel_id=channel.pk)

    assert [item.link_token for item in message.items] == [""]


def test_no_link_of_a_team_that_decides_in_its_inbox_only(world, mail_about):
    allow_links(world)
    Team.objects.filter(pk=world.team.pk).update(inbox_only=True)

    assert mail_about({"amount": 35}) == []


def test_no_link_without_an_address_of_the_installation(world, mail_about, settings):
    settings.PUBLIC_URL = ""
    allow_links(world)

    assert mail_about({"amount": 35}) == []
    assert not DecisionLink.objects.exists()


def test_a_chat_gets_no_link(world, settings):
    settings.PRIVATE_WEBHOOK_HOSTS = frozenset({"127.0.0.1"})
    allow_links(world)
    with run_chat_server() as server:
        add_team_chat(world, server.url)
        start(world, "rehearse:tool_call")
        send_all()

    assert server.bodies
    assert "/decide/" not in str(server.bodies)
    assert not DecisionLink.objects.exists()


def test_links_of_a_mail_that_was_not_sent_end(world, bob):
    allow_links(world)
    channel = subscribe_person(bob)
    start(world, "rehearse:tool_call")
    expand_announcements()
    message = claim_message(channel_id=channel.pk)
    record_message(message=message, result=SendResult(SendProblem.TEMPORARY, "451 later"))

    with pytest.raises(errors.Unauthenticated):
        press_button(token=message.items[0].link_token)
    assert not Decision.objects.exists()


def test_further_tries_of_a_mail_have_new_links_and_one_entry(world, bob, later):
    allow_links(world)
    channel = subscribe_person(bob)
    start(world, "rehearse:tool_call")
    expand_announcements()
    lost = claim_message(channel_id=channel.pk)
    later(minutes=5)
    again = claim_message(channel_id=channel.pk)

    tokens = {message.items[0].link_token for message in (lost, again)}
    assert lost.message_id == again.message_id
    assert len(tokens) == 2
    assert AuditEntry.objects.filter(action="link.issued").count() == 1
    # The first copy may have arrived: the worker was lost, not the mail.
    press_button(token=lost.items[0].link_token)
    with pytest.raises(errors.RequestRejected):
        press_button(token=again.items[0].link_token, reason="No.")


def test_a_link_decides_nothing_but_what_it_was_made_for(world, bob, dora):
    allow_links(world)
    mine, token = mailed_link(world, bob)
    (other,) = open_interrupts(start(world, "rehearse:tool_call"))
    actor = actor_of_link(link_of(token))
    answer = {"status": EntryStatus.RESOLVED, "payload": APPROVE, "entrance": Entrance.LINK}

    with pytest.raises(errors.Unauthenticated):
        decide(interrupt_id=other.pk, view_digest=other.shown_digest, actor=actor, **answer)
    with pytest.raises(errors.Unauthenticated):
        decide(
            interrupt_id=mine.pk,
            view_digest=mine.shown_digest,
            actor=replace(actor, user_id=dora.user_id),
            **answer,
        )
    with pytest.raises(errors.Unauthenticated):
        decide(interrupt_id=mine.pk, view_digest=mine.shown_digest, actor=bob, **answer)
    assert not Decision.objects.exists()


def test_a_link_is_marked_as_used_once(world, bob):
    allow_links(world)
    interrupt, token = mailed_link(world, bob)
    link = link_of(token)
    about = {"thread": interrupt.thread, "interrupt": interrupt, "actor": actor_of_link(link)}

    use_link(link.pk, **about, now=database_now())

    with pytest.raises(errors.Unauthenticated):
        use_link(link.pk, **about, now=database_now())
    assert AuditEntry.objects.filter(action="link.used").count() == 1


def test_old_links_are_deleted_with_the_log(world, bob, later):
    allow_links(world)
    mailed_link(world, bob)

    later(days=29)
    delete_old_announcements()
    assert DecisionLink.objects.exists()
    later(days=32)
    delete_old_announcements()

    assert not DecisionLink.objects.exists()


def test_no_link_for_requesters_who_may_not_approve_their_own(world, bob, dora):
    allow_links(world)
    Team.objects.filter(pk=world.team.pk).update(self_approval=False)
    subscribe_person(bob)
    subscribe_person(dora)
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call", actor=bob))

    send_all()

    assert [row.user_id for row in DecisionLink.objects.all()] == [dora.user_id]
    assert interrupt.status == "open"
