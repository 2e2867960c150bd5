"""What pages say is translated: every text of them, in every state that they have."""

import re
import time
from dataclasses import replace
from datetime import timedelta

import pytest
from ag_ui.core import Interrupt, RunFinishedEvent, RunFinishedInterruptOutcome
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from babel.messages.mofile import write_mo
from django.db import transaction
from django.test import Client, override_settings
from django.utils import timezone

from agents.adapters.remote.probe_report import AgentDescription, ProbeReport, ProbeResult
from inbox.actions.agents.remote_agents import record_test, set_remote_agent
from inbox.actions.decisions.claims_and_comments import add_comment, claim_interrupt
from inbox.actions.decisions.expiry import expire_interrupts
from inbox.actions.decisions.saved_views import save_view
from inbox.actions.people.provisioning import add_member
from inbox.actions.webhooks.deliveries import send_test
from inbox.actions.webhooks.endpoints import add_webhook, rotate_secret
from inbox.models import Delivery, DeliveryAttempt, Endpoint, Membership
from inbox.queries.people.teams import team_by_slug
from inbox.rules.decisions.list_filters import InterruptFilter
from inbox.rules.people.access import SEED, Role
from inbox.rules.webhooks.delivery_rules import (
    DeliveryProblem,
    DeliveryStatus,
    DisabledReason,
    EventType,
)
from tests.support import texts
from tests.support.steps import (
    approve,
    call_off,
    deny,
    open_interrupts,
    start,
)
from tests.support.web.crawl import texts_of

#: A form with a field of every kind, each with something to say about it.
SCHEMA = {
    "type": "object",
    "required": ["name", "count", "sure", "tags", "kind", "either", "group", "day", "fixed"],
    "properties": {
        "name": {"type": "string", "minLength": 3, "maxLength": 9, "pattern": "^x", "title": "t-1"},
        "count": {"type": "integer", "minimum": 3, "maximum": 9, "multipleOf": 3, "title": "t-2"},
        "sure": {"type": "boolean", "title": "t-3"},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2, "title": "t-4"},
        "kind": {"enum": ["o-1", "o-2", "o-3", "o-4", "o-5", "o-6", "o-7"], "title": "t-5"},
        "either": {"oneOf": [{"type": "string"}, {"type": "number"}], "title": "t-6"},
        "group": {
            "type": "object",
            "properties": {"inner": {"type": ["string", "null"]}},
            "required": ["inner"],
            "title": "t-7",
        },
        "day": {"type": "string", "format": "date", "title": "t-8"},
        "mail": {"type": "string", "format": "email", "default": "d-1", "title": "t-9"},
        "map": {"type": "object", "additionalProperties": {"type": "string"}, "title": "t-10"},
        "odd": {"not": {"type": "string"}, "title": "t-11"},
        "many": {"type": "array", "items": {"enum": ["o-8", "o-9"]}, "uniqueItems": True},
        "fixed": {"const": "c-1", "title": "t-12"},
    },
}
#: What is no text of ours: names, and what agents and people wrote.
DATA = {
    # Reasons to reject are texts of the team.
    *("Wrong amount", "Wrong recipient", "Not now", "Needs more detail"),
    *("Signoff", "JSON", "Deutsch", "English", "esperanto", "rehearsal", "zzz", "@example.com"),
    *("1.0", "API", "AG-UI 1.0", "Others", "RUN_STARTED", "https://agents.example.com/agui"),
    *(
        "Alice",
        "Bob",
        "Dora",
        "A",
        "B",
        "D",
        "DW",
        "PS",
        "Tests",
        "view-of-bob",
        "a-comment",
        "a-note",
    ),
    "1 Jan",
    *("send_email", "tool_call", "input_required", "confirmation", "dana", "eve", "to", "subject"),
    *(
        "To",
        "Subject",
        "Scenario",
        "Quarterly filing",
        "Quarter",
        "Year",
        "Revenue",
        "Inner",
        "Many",
        "JSON.",
    ),
    *("Your invoice", "Your contract", "Your appointment", "AGENT_ERROR"),
    "AGENT_ERROR: The agent failed, as it was asked to.",
    "This is going to fail.",
    "I would like to send an e-mail.",
    "I would like to send 3 e-mails.",
    "I need three figures for the quarterly filing.",
    "I am about to archive 12 closed threads.",
    "Fill in the quarterly filing",
    "Archive 12 closed threads?",
    *("Approve an e-mail", "Approve three e-mails at once", "Fill in a form", "Say yes or no"),
    *("Approve two steps, one after the other", "Release what a policy holds"),
    *("Answer a question", "Let a large transfer go on", "Watch a text being written"),
    *("Approve a charge that must happen once", "Watch a run fail"),
}
#: Made-up words such as t-1, ids, numbers, clock times, addresses, and the titles of e-mails.
_DATA = re.compile(
    r"[A-Z2-7]{32}|\w-\d@example.com"
    r"|[a-z]+-\d+|Q[1-4]|rehearse:\S+|[\da-f-]{8,}…?|\W*\d*\W*|https?://\S+( ·)?"
    r"|(\d+ \w+, )?\d\d:\d\d(:\d\d)?( UTC,?)?"
    r"|Send an e-mail to( \w+@example.com:( Your \w+)?)?|(: )?Your \w+|\w+@example.com"
    r"|(signoff|inbox|system):\w+"
)


@pytest.fixture
def pages(world, bob, ask, as_agent, reads_bob, reads_alice):
    """Open every page in every state, as a function: the languages differ, the world does not."""
    dora = add_member(
        team=world.team,
        username="dora",
        full_name="Dora",
        password="p",
        role=Role.ADMIN,
        actor=SEED,
    )
    save_view(
        name="view-of-bob", list_filter=InterruptFilter(mine=True), actor=bob, team_id=world.team.pk
    )
    interrupts = {name: ask(name) for name in ("tool_call", "input_required", "confirmation")}
    mine, claimed, together = ask("tool_call"), ask("tool_call"), ask("parallel3")
    claim_interrupt(interrupt_id=mine.pk, actor=bob)
    claim_interrupt(interrupt_id=claimed.pk, actor=world.actor(dora))
    add_comment(interrupt_id=mine.pk, text="a-comment", actor=bob)
    every_kind = open_interrupts(start(world, "go-1", agent=as_agent(_asks_for_everything)))[0]
    approved, changed, rejected, called_off, by_dora, late, expired = (
        ask(name)
        for name in ("tool_call", "tool_call", "tool_call", "input_required", *["tool_call"] * 3)
    )
    approve(approved, bob)
    approve(changed, bob, editedArgs={"to": "eve@example.com"}, reason="a-note")
    deny(rejected, bob)
    call_off(called_off, bob)
    approve(by_dora, world.actor(dora))
    type(expired).objects.filter(pk=expired.pk).update(expires_at=timezone.now())
    expire_interrupts(thread_id=expired.thread_id)
    soon = timezone.now() + timedelta(minutes=5)
    type(late).objects.filter(pk=late.pk).update(expires_at=soon)
    failed = start(world, "rehearse:error")

    remotes = [_agent_elsewhere(world.team, result) for result in (None, *ProbeResult)]
    hooks = _webhooks(world.team)
    Membership.objects.create(user=dora, team=team_by_slug("others"), role="admin")
    dora_browses = Client()
    dora_browses.force_login(dora)

    opened = [
        *interrupts.values(), mine, claimed, together, every_kind, approved, changed, rejected,
        called_off, by_dora, expired, late,
    ]  # fmt: skip
    addresses = [
        *("/", "/decided/", "/?mine=1", "/?expiring=1", "/?q=zzz&agent=rehearsal", "/?state=bogus"),
        *("/?state=all", "/runs/", "/runs/?state=failed", "/runs/?state=active"),
        "/runs/?q=zzz&since=2026-01-01",
        *("/agents/", "/agents/rehearsal/", *(f"/agents/{slug}/" for slug in remotes)),
        *("/runs/new/", "/runs/new/?agent=rehearsal", f"/threads/{failed.thread_id}/"),
        *(f"/interrupts/{interrupt.pk}/" for interrupt in opened),
        *(f"/threads/{interrupt.thread_id}/" for interrupt in opened[:4]),
        f"/decided/{approved.pk}/",
        f"/interrupts/{mine.pk}/?done={approved.pk}",
        f"/similar/{mine.pk}/",
        "/review/?" + "&".join(f"id={interrupt.pk}" for interrupt in opened),
        f"/review/?id={approved.pk}",
        "/nowhere",
    ]
    posts = [
        (f"/interrupts/{every_kind.pk}/decide", {"action": "answer", **_digest(every_kind)}),
        (f"/interrupts/{every_kind.pk}/decide", {"action": "approve", **_digest(every_kind)}),
        (f"/interrupts/{claimed.pk}/decide", {"action": "reject", **_digest(claimed)}),
        (f"/interrupts/{mine.pk}/decide", {"action": "reject", "view_digest": "old"}),
        (f"/interrupts/{by_dora.pk}/decide", {"action": "reject", **_digest(by_dora)}),
        (f"/interrupts/{expired.pk}/decide", {"action": "reject", **_digest(expired)}),
        (f"/interrupts/{claimed.pk}/claim", {}),
        (f"/interrupts/{by_dora.pk}/withdraw", {}),
        (f"/interrupts/{approved.pk}/withdraw", {}),
        (f"/interrupts/{mine.pk}/comment", {"text": ""}),
        (f"/interrupts/{mine.pk}/comment", {"text": "x" * 4_001}),
        (f"/runs/{mine.run_id}/cancel", {}),
        (f"/runs/{mine.run_id}/retry", {}),
        (f"/threads/{failed.thread_id}/message", {"message": ""}),
        (f"/threads/{mine.thread_id}/message", {"message": "m-1"}),
        ("/runs/new/rehearsal", {"message": ""}),
        ("/views/save", {"name": ""}),
        ("/review/decide", {"shown": str(mine.pk)}),
        ("/review/decide", {"shown": str(mine.pk), "action": "reject"}),
        ("/review/decide", {"item": f"{claimed.pk}:x", "action": "reject"}),
    ]

    def open_all(language):
        for client in (nobody := Client(), reads_bob.client, reads_alice.client, dora_browses):
            client.cookies["django_language"] = language
        yield "sign in", nobody.post("/login/", {"username": "x"})
        for address in addresses:
            yield address, reads_bob.client.get(address)
        for address in ("/", "/runs/new/", f"/interrupts/{mine.pk}/", f"/review/?id={mine.pk}"):
            yield address, reads_alice.client.get(address)
        for address, body in posts:
            # What is done is taken back: each language finds the same.
            point = transaction.savepoint()
            yield address, reads_bob.client.post(address, body)
            transaction.savepoint_rollback(point)
        for slug in remotes:
            yield f"dora looks at {slug}", dora_browses.get(f"/agents/{slug}/")
        for address in ("/agents/", "/new-agent/", f"/agents/{remotes[0]}/change/"):
            yield address, dora_browses.get(address)
        seen_at = Endpoint.objects.get(agent__slug=remotes[0]).changed_at.isoformat()
        for address, body in _WRONG_AGENTS:
            yield address, dora_browses.post(address, {"seen_at": seen_at, **body})
        yield from _pages_of_webhooks(hooks, dora_browses)
        yield from _pages_of_accounts(nobody, dora_browses, dora)
        yield "alice decides", reads_alice.client.post(f"/interrupts/{mine.pk}/decide", {})

    return open_all


_WRONG_AGENTS = (
    ("/new-agent/add", {"name": "a b", "url": "x-1", "description": "d" * 201, "value-0": "v-1"}),
    ("/new-agent/add", {"name": "rehearsal", "url": "https://x-1/", "team": "tests"}),
    ("/new-agent/add", {"name": "x-1", "url": "https://x-1/"}),
    ("/agents/agent-0/save", {"url": "https://x-2/", "header-0": "x-3"}),
    ("/agents/agent-0/save", {"url": "https://x-1/", "seen_at": "never"}),
    ("/agents/agent-0/save", {"url": "https://x-2/", "header-0": "host", "value-0": "v-1"}),
    ("/agents/rehearsal/test", {}),
)


def _agent_elsewhere(team, probe_result):
    """An agent whose last test found this, or that nobody has tested."""
    slug = f"agent-{0 if probe_result is None else 1 + list(ProbeResult).index(probe_result)}"
    agent = set_remote_agent(
        team_id=team.pk, slug=slug, url="https://x-1/", headers={"x-3": "v-1"}, actor=SEED
    ).agent
    if probe_result is not None:
        description = AgentDescription("x-4", "", "", ("x.flag",))
        report = ProbeReport(
            probe_result, 7, "x-1", 401, "x-type", protocol_version="1.0", told=description
        )
        if probe_result is ProbeResult.AGENT:
            report = replace(report, dialect="canonical", refused=True, events=("RUN_STARTED",))
        changed_at = agent.endpoint.changed_at
        record_test(agent_id=agent.pk, changed_at=changed_at, report=report.to_json(), actor=SEED)
    return slug


def _pages_of_accounts(nobody, client, user):
    """Signing in, and an account with a passkey, an authenticator app and two addresses."""
    session = client.session
    proven = {"method": "password", "at": time.time(), "reauthenticated": True}
    session["account_authentication_methods"] = [proven]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()
    for address in ("/password/", "/password/sent/", "/password/changed/", "/password/1-x/"):
        yield address, nobody.get(address)
    # How it begins: nothing is there yet.
    point = transaction.savepoint()
    for address in ("", "email/", "email/x/", "app/", "passkeys/add/", "confirm/", "password/"):
        yield f"account/{address}", client.get(f"/account/{address}")
    yield "no name", client.post("/account/name", {"name": ""})
    wrong = {"oldpassword": "x", "password1": "x-1-x-1-x-1-x", "password2": "x-1-x-1-x-1-x"}
    yield "a wrong password", client.post("/account/password/", wrong)
    yield "a wrong code", client.post("/account/app/", {"code": "1"})
    TOTP.activate(user, "A" * 32)
    RecoveryCodes.activate(user)
    key = Authenticator.objects.create(user=user, type="webauthn", data={"name": "x-1"})
    EmailAddress.objects.create(user=user, email="m-1@example.com", primary=True)
    EmailAddress.objects.create(user=user, email="m-2@example.com", verified=True)
    for address in (
        *("", "email/", "app/remove/", "codes/", "codes/new/", "confirm/code/"),
        *(f"passkeys/{key.pk}/", f"passkeys/{key.pk}/remove/"),
    ):
        yield f"account/{address}", client.get(f"/account/{address}")
    key.delete()
    nobody.post("/login/", {"username": "dora", "password": "p"})
    yield "a second factor", nobody.get("/login/code/")
    yield "a wrong second factor", nobody.post("/login/code/", {"code": "1"})
    transaction.savepoint_rollback(point)


def _pages_of_webhooks(hooks, client):
    gets = [*(f"/webhooks/{hook}/" for hook in hooks), f"/webhooks/{hooks[0]}/change/"]
    for address in ("/webhooks/", "/webhooks/new/", *gets):
        yield address, client.get(address)
    for address, body in (
        ("/webhooks/add", {"url": "http://x-1/", "description": "d" * 201}),
        ("/webhooks/add", {"url": "https://x-1/", "events": ["run.finished"]}),
        (f"/webhooks/{hooks[0]}/rotate", {}),
        (f"/webhooks/{hooks[1]}/test", {}),
    ):
        point = transaction.savepoint()
        yield address, client.post(address, body)
        transaction.savepoint_rollback(point)


def _webhooks(team):
    """Webhooks in every state, the first with messages in every state."""
    hooks = [
        add_webhook(team_id=team.pk, url="https://x-1/", event_types=list(EventType), actor=SEED)[0]
        for _ in (None, None, *DisabledReason)
    ]
    _, failing, *off = hooks
    failing.failing_since = timezone.now()
    failing.save()
    for hook, reason in zip(off, DisabledReason, strict=True):
        hook.disabled_at, hook.disabled_reason = timezone.now(), reason
        hook.save()
    for status in ("pending", *DeliveryStatus):
        message = send_test(endpoint_id=hooks[0].pk, actor=SEED)
        Delivery.objects.filter(pk=message.pk).update(status=status, body="x-1")
    for problem in ("", *DeliveryProblem):
        DeliveryAttempt.objects.create(
            delivery=message, at=timezone.now(), problem=problem, status_code=302, milliseconds=7
        )
    for row in Delivery.objects.filter(status="pending")[:1]:
        DeliveryAttempt.objects.create(
            delivery=row, at=timezone.now(), problem="status", status_code=500, milliseconds=7
        )
    rotate_secret(endpoint_id=hooks[0].pk, actor=SEED)
    return [hook.pk for hook in (hooks[0], off[0], failing, *off[1:])]


async def _asks_for_everything(run_input, _context):
    interrupt = Interrupt(id="i0", reason="input_required", message="m-2", response_schema=SCHEMA)
    yield RunFinishedEvent(
        thread_id=run_input.thread_id,
        run_id=run_input.run_id,
        outcome=RunFinishedInterruptOutcome(interrupts=[interrupt]),
    )


def _digest(interrupt):
    return {"view_digest": interrupt.shown_digest}


@pytest.fixture
def brackets(tmp_path):
    """A language in which every text of ours is itself in brackets."""
    catalog = texts.extracted()
    for message in texts.messages_of(catalog):
        if message.pluralizable:
            message.string = tuple(f"⟦{text}⟧" for text in message.id)
        else:
            # How days are spelled is no text.
            message.string = message.id if message.id == "j M" else f"⟦{message.id}⟧"
    folder = tmp_path / "eo" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    with (folder / "django.mo").open("wb") as file:
        write_mo(file, catalog)
    with override_settings(
        LANGUAGES=[("en", "English"), ("eo", "esperanto")], LOCALE_PATHS=[tmp_path]
    ):
        yield "eo"


def test_every_text_of_every_page_is_translated(pages, brackets):
    bare = {}
    for name, page in pages(brackets):
        assert page.status_code < 500, name
        if page.content:
            bare |= {text: name for text in _outside(texts_of(page)) if not _is_data(text)}

    assert bare == {}


def test_no_text_of_the_catalog_is_english_on_a_german_page(pages):
    english = {
        message.id
        for message in texts.messages_of(texts.read("de"))
        if message.id != message.string and isinstance(message.id, str)
    } - DATA  # a team may be called as a text of ours is

    for name, page in pages("de"):
        assert not english & set(texts_of(page)), name


def _outside(probe_result):
    """What is outside of brackets, which may hold several texts and the markup between them."""
    depth = 0
    for text in probe_result:
        bare = ""
        for char in text:
            depth += (char == "⟦") - (char == "⟧")
            bare += char if depth == 0 and char != "⟧" else " "
        yield from (part for part in re.split(r"\s{2,}", bare.strip()) if part)


def _is_data(text):
    # The title of a page: a count, what it is about, and the name of the product.
    parts = [re.sub(r"^[(]\d+[+]?[)] |^: ", "", part.strip()) for part in text.split("·")]
    return all(part in DATA or _DATA.fullmatch(part) for part in parts)
