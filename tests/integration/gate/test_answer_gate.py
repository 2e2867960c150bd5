"""Every entrance by which interrupts are answered, and what each check says there."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import uuid4

import ag_ui.core as agui
import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.test import Client

from inbox.actions.decisions import decide
from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.decisions.expiry import expire_interrupts
from inbox.actions.notifications.chat_accounts import (
    approve_by_chat,
    issue_link_code,
    link_chat_account,
)
from inbox.actions.people.groups import add_to_group, create_group
from inbox.actions.people.provisioning import add_member
from inbox.actions.policies.policy_decisions import decide_by_policy
from inbox.actions.requests import withdraw_request
from inbox.actions.runs import cancel_run, start_run
from inbox.agui_server import gateway
from inbox.models import (
    AgentRequest,
    ApiKey,
    AuditEntry,
    ChatIdentity,
    Decision,
    DecisionLink,
    Interrupt,
    Membership,
    Ruling,
    Run,
    Team,
)
from inbox.platform.clock import database_now
from inbox.queries.audit import sink_lag
from inbox.queries.people.api_keys import actor_of_key, actor_of_user
from inbox.rules.decisions.gate import Entrance
from inbox.rules.decisions.links import token_digest
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED, Role
from inbox.rules.policies.evaluation import Ruling as EvaluatedRuling
from inbox.rules.policies.language.policy import Effect, Via
from inbox.rules.policies.requirement import MergedRequirement
from tests.support.policies.published import publish, rule
from tests.support.steps import (
    approve,
    open_interrupts,
    reread,
    start,
)

APPROVED: dict[str, Any] = {"approved": True}
DECIDED = "decided"
#: What the agent proposes to pay, with a secret in it if the case needs one.
ARGS = {"amount": 1}
SECRET = {"amount": 1, "password": "hunter2hunter2"}
DECEPTIVE = {"amount": 1, "to": "p\u0430ypal.com"}
NAMES_EDITS = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "editedArgs": {"type": "object"}},
    "required": ["approved"],
}
NO_EDITS = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}},
    "required": ["approved"],
}


@dataclass
class Scene:
    """An open interrupt, and somebody who answers it."""

    world: Any
    interrupt: Any
    client: Client
    monkeypatch: pytest.MonkeyPatch
    later: Callable[..., None]
    payload: Any = field(default_factory=lambda: dict(APPROVED))
    digest: str | None = None  #: "" for none at all, None for the right one

    @property
    def sent_digest(self) -> str:
        return reread(self.interrupt).shown_digest if self.digest is None else self.digest

    def just_before_the_lock(self, change: Callable[[], Any]) -> None:
        """Let something happen after the caller was recognised, and before the thread is locked."""
        waiting = [change]
        for module in (cancel_run, decide, start_run, withdraw_request):
            lock_thread = module.lock_thread

            def change_then_lock(*names: Any, _lock: Any = lock_thread, **more: Any) -> Any:
                if waiting:
                    waiting.pop()()
                return _lock(*names, **more)

            self.monkeypatch.setattr(module, "lock_thread", change_then_lock)


@dataclass(frozen=True)
class Way:
    """One entrance, as a person or as a key, in one dialect of AG-UI."""

    entrance: Entrance
    by: str = "person"
    dialect: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.entrance, self.dialect, self.by)))

    def answer(self, scene: Scene) -> str:
        """Send the answer; return the code of the refusal, or DECIDED."""
        return _SENDERS[self.entrance](self, scene)


def send_page(way: Way, scene: Scene) -> str:
    form = {"action": "approve", "view_digest": scene.sent_digest}
    scene.client.post(f"/interrupts/{scene.interrupt.pk}/decide", form)
    return code_in_the_trail(scene)


def send_override_page(way: Way, scene: Scene) -> str:
    form = {
        "action": "override",
        "view_digest": scene.sent_digest,
        "override_reason": "The shop is down.",
    }
    scene.client.post(f"/interrupts/{scene.interrupt.pk}/decide", form)
    return code_in_the_trail(scene)


def send_override_rest(way: Way, scene: Scene) -> str:
    body = {
        "reason": "The shop is down.",
        "payload": scene.payload,
        "view_digest": scene.sent_digest,
    }
    answer = post(way, scene, f"/api/interrupts/{scene.interrupt.pk}/override", body)
    return DECIDED if answer.status_code == 200 else str(answer.json()["code"])


def send_bulk_page(way: Way, scene: Scene) -> str:
    item = f"{scene.interrupt.pk}:{scene.sent_digest}"
    form = {"action": "approve", "item": item, "shown": str(scene.interrupt.pk)}
    scene.client.post("/review/decide", form)
    return code_in_the_trail(scene)


def send_link(way: Way, scene: Scene) -> str:
    """Press the button on the page of a link in a mail, signed out."""
    if reread(scene.interrupt).ruling is None:
        _rule_with(scene, MergedRequirement(via=(Via.LINK,)))
    now = database_now()
    DecisionLink.objects.create(
        token_digest=token_digest("t" * 43),
        interrupt=scene.interrupt,
        user=scene.world.bob,
        view_digest=scene.sent_digest,
        message_id=uuid4(),
        created_at=now,
        expires_at=now + timedelta(hours=1),
    )
    browser = Client()
    browser.cookies["signoff_decide"] = secret = "s" * 43
    browser.post("/decide/", {"token": "t" * 43, "action": "approve", "secret": secret})
    return code_in_the_trail(scene)


def send_rest(way: Way, scene: Scene) -> str:
    body = {"status": "resolved", "payload": scene.payload, "view_digest": scene.sent_digest}
    answer = post(way, scene, f"/api/interrupts/{scene.interrupt.pk}/decide", body)
    return DECIDED if answer.status_code == 200 else str(answer.json()["code"])


def send_bulk_rest(way: Way, scene: Scene) -> str:
    item = {"id": str(scene.interrupt.pk), "view_digest": scene.sent_digest}
    body = {"status": "resolved", "payload": scene.payload, "items": [item]}
    answer = post(way, scene, "/api/interrupts/decide", body)
    (result,) = answer.json()["results"]
    return str(result["error"]["code"]) if result.get("error") else DECIDED


def post(way: Way, scene: Scene, path: str, body: Any) -> Any:
    headers = {"Authorization": f"Bearer {scene.world.key}"} if way.by == "key" else {}
    client = Client(headers=headers) if headers else scene.client
    return client.post(path, json.dumps(body), content_type="application/json")


def send_agui(way: Way, scene: Scene) -> str:
    if way.by == "key":
        actor = actor_of_key(scene.world.key)
    else:
        actor = actor_of_user(scene.world.bob, scene.client.session)
    body = agui_input(way, scene)
    try:
        answer = async_to_sync(gateway.run)(
            actor,
            scene.interrupt.agent.slug,
            body,
            way.dialect or "canonical",
            entrance=way.entrance,
        )
    except RequestRejected as refusal:
        return refusal.code
    last = json.loads(answer.bodies[-1]) if answer.bodies else {}
    return str(last["code"]) if last.get("type") == "RUN_ERROR" else DECIDED


def agui_input(way: Way, scene: Scene) -> dict[str, Any]:
    name, digest = scene.interrupt.interrupt_id, scene.digest
    body: dict[str, Any] = {
        "threadId": scene.interrupt.thread.external_id,
        "runId": str(uuid4()),
        "messages": [],
        "state": None,
        "tools": [],
        "context": [],
        "forwardedProps": {},
    }
    if digest is None:
        digest = scene.sent_digest
    if way.dialect:
        body["forwardedProps"]["signoff"] = {"viewDigests": {name: digest} if digest else {}}
    if way.dialect == "draft":
        body["resume"] = {"interruptId": name, "payload": scene.payload}
    elif way.dialect == "langgraph":
        body["forwardedProps"]["command"] = {"resume": {name: scene.payload}}
    else:
        metadata = {"metadata": {"signoff": {"viewDigest": digest}}} if digest else {}
        entry = {"interruptId": name, "status": "resolved", "payload": scene.payload, **metadata}
        body["resume"] = [entry]
    return body


def send_expiry(way: Way, scene: Scene) -> str:
    before = AuditEntry.objects.count()
    expire_interrupts(thread_id=scene.interrupt.thread_id)
    is_decided = AuditEntry.objects.count() > before
    return DECIDED if is_decided else "NOTHING"


def send_policy(way: Way, scene: Scene) -> str:
    """Let the policy answer what it has left to people: it answers new interrupts only."""
    interrupt = reread(scene.interrupt)
    now = database_now()
    decide_by_policy(thread=interrupt.thread, rows=[interrupt], now=now)
    return "NOTHING" if interrupt.status == reread(interrupt).status else DECIDED


def send_cancel(way: Way, scene: Scene) -> str:
    """Cancel the run, as one that Bob or the key has started where its requester does."""
    if way.entrance is Entrance.REQUESTER:
        key = ApiKey.objects.get(name="tests") if way.by == "key" else None
        Run.objects.filter(pk=scene.interrupt.run_id).update(
            requester_user=None if key else scene.world.bob, requester_key=key
        )
    if way.entrance is Entrance.CANCEL_PAGE:
        scene.client.post(f"/runs/{scene.interrupt.run_id}/cancel")
        return code_in_the_trail(scene)
    answer = post(way, scene, f"/api/runs/{scene.interrupt.run_id}/cancel", {})
    return DECIDED if answer.status_code == 200 else str(answer.json()["code"])


def send_withdrawal(way: Way, scene: Scene) -> str:
    """Withdraw a program's request with the key, as if an external agent had asked."""
    interrupt = scene.interrupt
    key = ApiKey.objects.get(name="tests")
    Run.objects.filter(pk=interrupt.run_id).update(
        requester_user=None, requester_key=key, pulled=True
    )
    request = AgentRequest.objects.create(
        team_id=interrupt.team_id,
        agent_id=interrupt.agent_id,
        thread_id=interrupt.thread_id,
        execution="{}",
        heard_at=interrupt.created_at,
        created_at=interrupt.created_at,
    )
    answer = post(way, scene, f"/api/requests/{request.pk}/withdraw", {})
    return DECIDED if answer.status_code == 200 else str(answer.json()["code"])


def send_chat(way: Way, scene: Scene) -> str:
    """Press the button as Bob, under a policy that names chats unless the case has another."""
    if not scene.interrupt.rulings.exists():
        _rule_with(scene, MergedRequirement(via=(Via.WEB, Via.CHAT)))
    team_id, account = scene.world.team.pk, {"workspace": "T0", "external_id": "U0"}
    code = issue_link_code(team_id=team_id, name="bob", **account)
    bob = scene.world.actor(scene.world.bob)
    link_chat_account(code=code, account="U0", actor=bob)
    try:
        approve_by_chat(
            team_id=scene.world.team.pk,
            workspace="T0",
            external_id="U0",
            interrupt_id=scene.interrupt.pk,
            view_digest=scene.sent_digest,
        )
    except RequestRejected as refusal:
        return refusal.code
    return DECIDED


_SENDERS: dict[Entrance, Callable[[Way, Scene], str]] = {
    Entrance.PAGE: send_page,
    Entrance.BULK_PAGE: send_bulk_page,
    Entrance.REST: send_rest,
    Entrance.BULK_REST: send_bulk_rest,
    Entrance.LINK: send_link,
    Entrance.AGUI_HTTP: send_agui,
    Entrance.AGUI_WEBSOCKET: send_agui,
    Entrance.CANCEL_PAGE: send_cancel,
    Entrance.CANCEL_REST: send_cancel,
    Entrance.REQUESTER: send_cancel,
    Entrance.WITHDRAWAL: send_withdrawal,
    Entrance.POLICY: send_policy,
    Entrance.EXPIRY: send_expiry,
    Entrance.OVERRIDE_PAGE: send_override_page,
    Entrance.OVERRIDE_REST: send_override_rest,
    Entrance.CHAT: send_chat,
}
AGUI = [
    Way(entrance, by, dialect)
    for entrance in (Entrance.AGUI_HTTP, Entrance.AGUI_WEBSOCKET)
    for by in ("person", "key")
    for dialect in ("", "draft", "langgraph")
]
PAGES = [Way(Entrance.PAGE), Way(Entrance.BULK_PAGE)]
CHAT = Way(Entrance.CHAT)
REST = [
    Way(entrance, by)
    for entrance in (Entrance.REST, Entrance.BULK_REST)
    for by in ("person", "key")
]
LINK = Way(Entrance.LINK)
WITHDRAWAL = Way(Entrance.WITHDRAWAL, "key")
REQUESTERS = [*(Way(Entrance.REQUESTER, by) for by in ("person", "key")), WITHDRAWAL]
CANCELS_REST = [Way(Entrance.CANCEL_REST, by) for by in ("person", "key")]
CANCELS = [Way(Entrance.CANCEL_PAGE), *CANCELS_REST, *REQUESTERS]
SYSTEM = [Way(Entrance.POLICY, "system"), Way(Entrance.EXPIRY, "system")]
OVERRIDE_PAGE, OVERRIDE_REST = Way(Entrance.OVERRIDE_PAGE), Way(Entrance.OVERRIDE_REST)
OVERRIDES = [OVERRIDE_PAGE, OVERRIDE_REST]
WAYS = [*PAGES, *REST, LINK, *AGUI, *CANCELS, *SYSTEM, *OVERRIDES, CHAT]
PEOPLE = [way for way in WAYS if way.by == "person"]
KEYS = [way for way in WAYS if way.by == "key"]
ANSWERS = [way for way in WAYS if way not in CANCELS and way.by != "system"]
#: What these ways display does not include everything, so that some requests are refused.
BULK = [
    way
    for way in ANSWERS
    if way.entrance in (Entrance.BULK_PAGE, Entrance.BULK_REST, Entrance.CHAT)
]


def without(ways: list[Way], *left_out: Way) -> list[Way]:
    return [way for way in ways if way not in left_out]


_REFUSALS = ("interrupt.refused", "resume.rejected", "run.refused", "link.refused")


def code_in_the_trail(scene: Scene) -> str:
    """Audit trail of the last attempt; "" for a stranger's, which leaves no entry."""
    entries = AuditEntry.objects.filter(thread=scene.interrupt.thread_id).order_by("-seq")
    last = entries.select_related("payload").first()
    if last is None or last.action not in _REFUSALS:
        return "" if reread(scene.interrupt).status == "open" else DECIDED
    return str(json.loads(last.payload.text)["detail"]["code"])


# -- what is in the way ---------------------------------------------------------------------------


def nothing(scene: Scene) -> None:
    """Nothing is in the way."""


def key_revoked(scene: Scene) -> None:
    key = ApiKey.objects.filter(name="tests")
    scene.just_before_the_lock(lambda: key.update(revoked_at=database_now()))


def key_replaced(scene: Scene) -> None:
    key = ApiKey.objects.filter(name="tests")
    scene.just_before_the_lock(lambda: key.update(digest="0" * 64))


def signed_out(scene: Scene) -> None:
    session = scene.client.session
    scene.just_before_the_lock(session.flush)


def chat_disconnected(scene: Scene) -> None:
    scene.just_before_the_lock(ChatIdentity.objects.all().delete)


def member_removed(scene: Scene) -> None:
    scene.just_before_the_lock(Membership.objects.filter(user=scene.world.bob).delete)


def deactivated(scene: Scene) -> None:
    people = type(scene.world.bob).objects.filter(pk=scene.world.bob.pk)
    scene.just_before_the_lock(lambda: people.update(is_active=False))


def may_not_decide_any_more(scene: Scene) -> None:
    member = Membership.objects.filter(user=scene.world.bob)
    key = ApiKey.objects.filter(name="tests")
    scene.just_before_the_lock(
        lambda: (member.update(role=Role.VIEWER), key.update(scopes=["read", "run"]))
    )


def claimed_by_another(scene: Scene) -> None:
    dora = add_member(
        team=scene.world.team,
        username="dora",
        full_name="Dora",
        password="dora-password",
        role=Role.REVIEWER,
        actor=SEED,
    )
    claim_interrupt(interrupt_id=scene.interrupt.pk, actor=actor_of_user(dora))


def wrong_digest(scene: Scene) -> None:
    scene.digest = "0" * 64


def view_changed_before_the_lock(scene: Scene) -> None:
    rows = Interrupt.objects.filter(pk=scene.interrupt.pk)
    scene.just_before_the_lock(lambda: rows.update(endpoint_digest="1" * 64))


def no_digest(scene: Scene) -> None:
    scene.digest = ""


def no_digest_where_required(scene: Scene) -> None:
    Team.objects.update(requires_view_digest=True)
    scene.digest = ""


def wrong_payload(scene: Scene) -> None:
    scene.payload = {"approved": "perhaps"}


def mask_sent(scene: Scene) -> None:
    scene.payload = {**APPROVED, "editedArgs": {"amount": "••••••••"}}


def edits_not_offered(scene: Scene) -> None:
    scene.payload = {**APPROVED, "editedArgs": {"amount": 2}}


def expired(scene: Scene) -> None:
    Interrupt.objects.update(expires_at=scene.interrupt.created_at)


def decided_by_another(scene: Scene) -> None:
    dora = add_member(
        team=scene.world.team,
        username="dora",
        full_name="Dora",
        password="dora-password",
        role=Role.REVIEWER,
        actor=SEED,
    )
    approve(scene.interrupt, actor_of_user(dora), reason="mine")


def inbox_only(scene: Scene) -> None:
    Team.objects.update(inbox_only=True)


def audit_sink_lags(scene: Scene) -> None:
    scene.monkeypatch.setattr(sink_lag, "is_lag_too_large", lambda: True)


def self_approval(scene: Scene) -> None:
    """Bob and the key started the run, each in the cells in which they answer."""
    Team.objects.update(self_approval=False)
    scene.monkeypatch.setattr(Run, "is_self_approved_by", lambda run, actor: True)


def restored(scene: Scene) -> None:
    Interrupt.objects.update(restored_at=database_now())


def may_not_override(scene: Scene) -> None:
    Team.objects.update(override_group="")


def policy_requires_another_way(scene: Scene) -> None:
    _rule_with(scene, MergedRequirement(via=(Via.LINK,)))


def policy_requires_the_inbox(scene: Scene) -> None:
    _rule_with(scene, MergedRequirement(via=(Via.WEB,)))


def policy_names_no_way(scene: Scene) -> None:
    _rule_with(scene, MergedRequirement())


def link_used(scene: Scene) -> None:
    scene.just_before_the_lock(lambda: DecisionLink.objects.update(used_at=database_now()))


def link_expired(scene: Scene) -> None:
    scene.just_before_the_lock(lambda: DecisionLink.objects.update(expires_at=database_now()))


def policy_requires_a_fresh_sign_in(scene: Scene) -> None:
    session = scene.client.session
    session["account_authentication_methods"] = []
    session.save()
    _rule_with(scene, MergedRequirement(fresh_sign_in_minutes=5))


def _rule_with(scene: Scene, requirement: MergedRequirement) -> None:
    version = publish(
        scene.world, rule("mail", "ask", require={"via": ["web"], "self_approval": True})
    )
    ruling = EvaluatedRuling(Effect.ASK, requirement=requirement, rules=("mail",))
    Ruling.objects.create(
        interrupt=scene.interrupt,
        number=1,
        version=version,
        effect="ask",
        body=json.dumps({**ruling.to_json(), "facts": {}}),
        created_at=database_now(),
    )
    Interrupt.objects.filter(pk=scene.interrupt.pk).update(view_version=3)


@dataclass(frozen=True)
class Condition:
    """Something that is in the way of an answer, and what is said of it at each entrance."""

    arrange: Callable[[Scene], None]
    codes: dict[Way, str]
    args: Any = field(default_factory=lambda: ARGS, hash=False)
    schema: Any = field(default_factory=lambda: NO_EDITS, hash=False)
    name: str = ""
    reason: str = "tool_call"

    def __str__(self) -> str:
        return self.name or self.arrange.__name__


def all_say(ways: list[Way], code: str) -> dict[Way, str]:
    return dict.fromkeys(ways, code)


_SYSTEM = all_say(SYSTEM, "NOTHING")
#: The code of each cell. What a cell is not in does not apply: pages are for people, a form has no
#: field for what it does not offer, and bulk answers have no edits.
CONDITIONS = [
    Condition(nothing, {**all_say([*ANSWERS, *CANCELS], DECIDED), **_SYSTEM}),
    Condition(key_revoked, all_say(KEYS, "UNAUTHENTICATED")),
    Condition(key_replaced, all_say(KEYS, "UNAUTHENTICATED")),
    Condition(signed_out, {**all_say(without(PEOPLE, CHAT), "UNAUTHENTICATED"), LINK: DECIDED}),
    Condition(chat_disconnected, {CHAT: "UNAUTHENTICATED"}),
    Condition(link_used, {LINK: "UNAUTHENTICATED"}),
    Condition(link_expired, {LINK: "UNAUTHENTICATED"}),
    Condition(
        member_removed,
        {
            **all_say(PEOPLE, "NOT_FOUND"),
            **all_say([*PAGES, Way(Entrance.CANCEL_PAGE), OVERRIDE_PAGE], ""),
        },
    ),
    Condition(deactivated, all_say(PEOPLE, "UNAUTHENTICATED")),
    Condition(
        may_not_decide_any_more,
        {**all_say([*ANSWERS, *CANCELS], "FORBIDDEN"), **all_say(REQUESTERS, DECIDED)},
    ),
    Condition(
        claimed_by_another,
        {**all_say(PEOPLE, "CLAIMED"), **all_say([*KEYS, *REQUESTERS], DECIDED)},
    ),
    Condition(wrong_digest, all_say(ANSWERS, "VIEW_CHANGED")),
    Condition(view_changed_before_the_lock, all_say(ANSWERS, "VIEW_CHANGED")),
    Condition(
        no_digest,
        {
            **all_say([*PAGES, *REST, LINK, *OVERRIDES, CHAT], "VIEW_DIGEST_REQUIRED"),
            **all_say(AGUI, DECIDED),
        },
    ),
    Condition(no_digest_where_required, all_say(ANSWERS, "VIEW_DIGEST_REQUIRED")),
    Condition(
        nothing,
        {
            **all_say([*REST, *PAGES, LINK, *OVERRIDES], "MASKED_NOT_SEEN"),
            **all_say(BULK, "NOT_IN_BULK"),
            **all_say([Way(Entrance.REST, "key"), Way(Entrance.BULK_REST, "key"), *AGUI], DECIDED),
        },
        args=SECRET,
        name="masked_value",
    ),
    Condition(wrong_payload, all_say([*REST, *AGUI, OVERRIDE_REST], "INVALID_PAYLOAD")),
    Condition(
        mask_sent, all_say([*REST, *AGUI, OVERRIDE_REST], "INVALID_PAYLOAD"), schema=NAMES_EDITS
    ),
    Condition(edits_not_offered, all_say([*REST, *AGUI, OVERRIDE_REST], "EDITS_NOT_OFFERED")),
    Condition(
        expired,
        {
            **all_say(ANSWERS, "INTERRUPT_EXPIRED"),
            **all_say(CANCELS, DECIDED),
            Way(Entrance.EXPIRY, "system"): DECIDED,
        },
    ),
    Condition(
        decided_by_another,
        {
            **all_say(ANSWERS, "INTERRUPT_ALREADY_RESOLVED"),
            **all_say(CANCELS, "RUN_ENDED"),
            WITHDRAWAL: "ALREADY_DECIDED",
            **_SYSTEM,
        },
    ),
    Condition(
        inbox_only,
        {
            **all_say([*PAGES, Way(Entrance.CANCEL_PAGE), *REQUESTERS, OVERRIDE_PAGE], DECIDED),
            **all_say([*REST, LINK, *AGUI, *CANCELS_REST, OVERRIDE_REST, CHAT], "INBOX_ONLY"),
        },
    ),
    Condition(
        audit_sink_lags, {**all_say(ANSWERS, "AUDIT_SINK_LAGS"), **all_say(CANCELS, DECIDED)}
    ),
    Condition(self_approval, {**all_say(ANSWERS, "SELF_APPROVAL"), **all_say(OVERRIDES, DECIDED)}),
    Condition(
        self_approval,
        {**all_say(ANSWERS, "SELF_APPROVAL"), **all_say(OVERRIDES, DECIDED)},
        reason="acme:approval",
        name="self_approval_by_another_reason",
    ),
    Condition(
        may_not_override,
        all_say(OVERRIDES, "FORBIDDEN"),
        reason="acme:approval",
        name="override_by_another_reason",
    ),
    Condition(
        policy_requires_another_way,
        {
            **all_say(without(ANSWERS, LINK), "POLICY_REQUIREMENT"),
            **all_say(OVERRIDES, DECIDED),
        },
    ),
    Condition(policy_requires_the_inbox, {LINK: "POLICY_REQUIREMENT"}),
    Condition(
        policy_requires_a_fresh_sign_in,
        {**all_say(ANSWERS, "SIGN_IN_TOO_OLD"), CHAT: "POLICY_REQUIREMENT"},
    ),
    Condition(
        policy_names_no_way,
        {**all_say(ANSWERS, DECIDED), CHAT: "POLICY_REQUIREMENT", LINK: "NOT_BY_LINK"},
    ),
    Condition(restored, {**all_say(ANSWERS, "RESTORE_NOT_CHECKED"), **all_say(CANCELS, DECIDED)}),
    Condition(may_not_override, all_say(OVERRIDES, "FORBIDDEN")),
    Condition(
        nothing,
        {**all_say(BULK, "NOT_IN_BULK"), LINK: "NOT_BY_LINK"},
        args=DECEPTIVE,
        name="not_in_bulk",
    ),
]
CELLS = [
    pytest.param(way, condition, id=f"{condition}-{way}")
    for condition in CONDITIONS
    for way in condition.codes
]


@pytest.fixture
def scene(world, as_agent, monkeypatch, later):
    async def in_this_thread(function, *args, **kwargs):
        return await sync_to_async(function, thread_sensitive=True)(*args, **kwargs)

    # The test's transaction is visible in this thread only.
    monkeypatch.setattr(gateway, "in_db_thread", in_this_thread)

    def make(args, schema, reason="tool_call"):
        async def play(run_input, ctx):
            if ctx.answers:
                yield agui.RunFinishedEvent(thread_id="t", run_id="r")
                return
            yield agui.ToolCallStartEvent(tool_call_id="c", tool_call_name="pay")
            yield agui.ToolCallArgsEvent(tool_call_id="c", delta=json.dumps(args))
            yield agui.ToolCallEndEvent(tool_call_id="c")
            interrupt = agui.Interrupt(
                id="i", reason=reason, tool_call_id="c", response_schema=schema
            )
            outcome = agui.RunFinishedInterruptOutcome(interrupts=[interrupt])
            yield agui.RunFinishedEvent(
                thread_id=run_input.thread_id, run_id=run_input.run_id, outcome=outcome
            )

        (interrupt,) = open_interrupts(start(world, "go", agent=as_agent(play)))
        client = Client()
        client.post("/login/", {"username": "bob", "password": "bob-password"})
        create_group(team_id=world.team.pk, name="leads", actor=SEED)
        add_to_group(team_id=world.team.pk, name="leads", user_id=world.bob.pk, actor=SEED)
        Team.objects.update(override_group="leads")
        return Scene(world, interrupt, client, monkeypatch, later)

    return make


def test_every_entrance_is_in_the_matrix():
    assert {way.entrance for way in WAYS} == set(Entrance) == set(_SENDERS)
    undeclared = {
        (str(condition), str(way))
        for condition in CONDITIONS
        if condition.arrange in (nothing, decided_by_another) and condition.args is ARGS
        for way in without(WAYS, *condition.codes)
    }
    assert undeclared == set()


@pytest.mark.parametrize(("way", "condition"), CELLS)
def test_each_check_says_the_same_at_every_entrance(scene, way, condition):
    refused_scene = scene(condition.args, condition.schema, condition.reason)
    condition.arrange(refused_scene)
    before = Decision.objects.count()

    code = way.answer(refused_scene)

    expected = condition.codes[way]
    assert code == expected
    assert (Decision.objects.count() > before) == (expected == DECIDED)


@pytest.mark.parametrize(
    ("way", "condition"), [cell for cell in CELLS if cell.values[0].by != "system"]
)
def test_each_refusal_is_in_the_trail_and_changes_nothing(scene, way, condition):
    expected = condition.codes[way]
    if expected in (DECIDED, "", "NOT_FOUND"):
        return
    refused_scene = scene(condition.args, condition.schema, condition.reason)
    condition.arrange(refused_scene)
    status = reread(refused_scene.interrupt).status

    way.answer(refused_scene)

    assert code_in_the_trail(refused_scene) == expected
    assert reread(refused_scene.interrupt).status == status
