"""Requesters cannot approve what their runs propose, at any entrance."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import ag_ui.core as agui
import pytest
from django.test import Client

from inbox import engine
from inbox.actions.people.api_keys import make_key, rotate_key
from inbox.actions.people.members import change_team
from inbox.agui_server import gateway
from inbox.models import ApiKey, Membership, User
from inbox.platform.clock import database_now
from inbox.queries.notifications.recipients import may_decide, member_as_person, with_groups
from inbox.queries.people.api_keys import actor_of_key
from inbox.queries.policies.quorum import current_quorum
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import SEED, Permission
from tests.integration.gate.test_answer_gate import DECIDED, Scene, Way
from tests.support.policies.published import administrator
from tests.support.steps import answer, approve, deny, open_interrupts, reread, resumed_run, start

SCOPES = {Permission.READ, Permission.RUN, Permission.DECIDE}
SCHEMA = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["approved"],
}
WAYS = [
    Way(entrance, by)
    for entrance in (
        Entrance.PAGE,
        Entrance.BULK_PAGE,
        Entrance.REST,
        Entrance.BULK_REST,
        Entrance.AGUI_HTTP,
        Entrance.AGUI_WEBSOCKET,
        Entrance.CHAT,
    )
    for by in ("person", "key")
    if by == "person" or entrance not in (Entrance.PAGE, Entrance.BULK_PAGE, Entrance.CHAT)
]


@pytest.fixture
def team(world, as_agent, monkeypatch):
    """A new team, Erin who administers it and has a key, and Bob who also decides."""

    async def in_this_thread(work: Callable[..., Any], *args: Any, **more: Any) -> Any:
        from asgiref.sync import sync_to_async

        return await sync_to_async(work, thread_sensitive=True)(*args, **more)

    monkeypatch.setattr(gateway, "in_db_thread", in_this_thread)
    erin = administrator(world)
    _, token = make_key(team_id=world.team.pk, name="erin", scopes=SCOPES, actor=erin)
    user = User.objects.get(pk=erin.user_id)
    return replace(world, bob=user, alice=world.bob, key=token)


@pytest.fixture
def run_of(team, as_agent):
    """Start runs with a script: each run fails, finishes or proposes a payment."""

    def start_run(*steps: str, actor: Any, **ids: Any) -> Any:
        script = list(steps)

        async def play(run_input: Any, ctx: Any) -> Any:
            step = script.pop(0) if script else "finish"
            if step == "fail":
                raise RuntimeError
            interrupts = []
            if step == "propose":
                name = f"c-{run_input.run_id}"
                yield agui.ToolCallStartEvent(tool_call_id=name, tool_call_name="pay")
                yield agui.ToolCallArgsEvent(tool_call_id=name, delta='{"amount": 1}')
                yield agui.ToolCallEndEvent(tool_call_id=name)
                interrupts = [
                    agui.Interrupt(
                        id=f"i-{run_input.run_id}",
                        reason="tool_call",
                        tool_call_id=name,
                        response_schema=SCHEMA,
                    )
                ]
            yield agui.RunFinishedEvent(
                thread_id=run_input.thread_id,
                run_id=run_input.run_id,
                outcome=agui.RunFinishedInterruptOutcome(interrupts=interrupts)
                if interrupts
                else None,
            )

        start_run.agent = as_agent(play)  # type: ignore[attr-defined]
        return start(team, "go", agent=start_run.agent, actor=actor, **ids)  # type: ignore[attr-defined]

    return start_run


def started(team: Any, run_of: Any, erin: Any) -> Any:
    return run_of("propose", actor=erin)


def resumed(team: Any, run_of: Any, erin: Any) -> Any:
    run = run_of("propose", "propose", actor=erin)
    (interrupt,) = open_interrupts(run)
    approve(interrupt, team.actor(team.alice))
    return resumed_run(run)


def retried(team: Any, run_of: Any, erin: Any) -> Any:
    """Bob retries the run that Erin started."""
    run = run_of("fail", "propose", actor=erin)
    retry = engine.retry_run(run.pk, team.actor(team.alice)).run
    engine.execute_run(retry.pk)
    return reread(retry)


def retried_by_another(team: Any, run_of: Any, erin: Any) -> Any:
    """Erin retries the run that Bob started."""
    run = run_of("fail", "propose", actor=team.actor(team.alice))
    retry = engine.retry_run(run.pk, erin).run
    engine.execute_run(retry.pk)
    return reread(retry)


def retried_again(team: Any, run_of: Any, erin: Any) -> Any:
    """Erin retries the run that Bob started, then Bob retries that."""
    bob = team.actor(team.alice)
    run = run_of("fail", "fail", "propose", actor=bob)
    for actor in (erin, bob):
        run = engine.retry_run(run.pk, actor).run
        engine.execute_run(run.pk)
    return reread(run)


def retried_by_two(team: Any, run_of: Any, erin: Any) -> Any:
    """Bob starts the run, then Erin and an administrator's key retry it."""
    run = run_of("fail", "fail", "propose", actor=team.actor(team.alice))
    _, token = make_key(team_id=team.team.pk, name="retrier", scopes=SCOPES, actor=SEED)
    for actor in (erin, actor_of_key(token)):
        run = engine.retry_run(run.pk, actor).run
        engine.execute_run(run.pk)
    return reread(run)


def second_message(team: Any, run_of: Any, erin: Any) -> Any:
    """Bob starts the thread, and Erin sends the second message."""
    thread_id = str(uuid4())
    run_of("finish", "propose", actor=team.actor(team.alice), thread_id=thread_id)
    return start(team, "more", agent=run_of.agent, actor=erin, thread_id=thread_id)


LINEAGES = [
    started,
    resumed,
    retried,
    retried_by_another,
    retried_again,
    retried_by_two,
    second_message,
]


def requesters(team: Any) -> dict[str, Any]:
    return {"person": team.actor(team.bob), "key": actor_of_key(team.key)}


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("requester", ["person", "key"])
@pytest.mark.parametrize("lineage", LINEAGES)
def test_requesters_never_approve_their_runs(
    team, run_of, monkeypatch, later, lineage, requester, way
):
    run = lineage(team, run_of, requesters(team)[requester])
    (interrupt,) = open_interrupts(run)
    client = Client()
    client.force_login(team.bob)
    scene = Scene(team, interrupt, client, monkeypatch, later)

    assert way.answer(scene) == "SELF_APPROVAL"
    assert reread(interrupt).status == "open"


@pytest.mark.parametrize("lineage", LINEAGES)
def test_another_person_and_key_approve(team, run_of, monkeypatch, later, lineage):
    (interrupt,) = open_interrupts(lineage(team, run_of, requesters(team)["person"]))
    _, token = make_key(team_id=team.team.pk, name="ci", scopes=SCOPES, actor=SEED)
    scene = Scene(replace(team, key=token), interrupt, Client(), monkeypatch, later)

    assert Way(Entrance.REST, "key").answer(scene) == DECIDED


CALL = {"tool_call_id": "c-1"}
APPROVAL = {"response_schema": SCHEMA}
EITHER = {"response_schema": {"anyOf": [SCHEMA, {"type": "string"}]}}
YES_NO = {"response_schema": {"type": "boolean"}}
CHOICE = {"response_schema": {"enum": ["approve", "reject"]}}
YES = {"approved": True}
#: Reason, members of the interrupt, and an answer that consents.
CONSENTS = [
    ("tool_call", {**CALL, **APPROVAL}, YES),
    ("tool_call", CALL, YES),
    ("confirmation", {}, True),
    ("acme:approval", {**CALL, **APPROVAL}, YES),
    ("acme:approval", APPROVAL, YES),
    ("acme:approval", EITHER, "go on"),
    ("acme:hold", CALL, "as you like"),
    ("database_modification", APPROVAL, YES),
    ("database_modification", {}, YES),
    ("input_required", {**CALL, **APPROVAL}, YES),
    ("input_required", CALL, {"city": "Rome"}),
    ("input_required", YES_NO, True),
    ("input_required", CHOICE, "approve"),
    ("langgraph:interrupt", {**CALL, **APPROVAL}, YES),
    ("langgraph:interrupt", {}, True),
    ("langgraph:interrupt", {}, "Yes."),
    ("langgraph:interrupt", {}, [{"type": "accept", "args": None}]),
    ("langgraph:interrupt", {}, {"behavior": "allow"}),
]


@pytest.fixture
def asking(team, as_agent):
    """Return a function that lets Erin start a run which ends with one interrupt."""

    def ask(reason: str, members: dict[str, Any]) -> tuple[Any, Any]:
        async def play(run_input: Any, ctx: Any) -> Any:
            if not run_input.resume:
                yield agui.ToolCallStartEvent(tool_call_id="c-1", tool_call_name="pay")
                yield agui.ToolCallArgsEvent(tool_call_id="c-1", delta='{"amount": 9000}')
                yield agui.ToolCallEndEvent(tool_call_id="c-1")
            interrupt = agui.Interrupt(id="i-1", reason=reason, message="Pay?", **members)
            outcome = agui.RunFinishedInterruptOutcome(interrupts=[interrupt])
            yield agui.RunFinishedEvent(
                thread_id=run_input.thread_id,
                run_id=run_input.run_id,
                outcome=None if run_input.resume else outcome,
            )

        erin = requesters(team)["person"]
        (interrupt,) = open_interrupts(start(team, "go", agent=as_agent(play), actor=erin))
        return interrupt, erin

    return ask


@pytest.mark.parametrize(("reason", "members", "consent"), CONSENTS, ids=str)
def test_requesters_consent_to_nothing_by_any_reason(team, asking, reason, members, consent):
    interrupt, erin = asking(reason, members)

    with pytest.raises(errors.SelfApproval):
        answer(interrupt, erin, consent)
    answer(interrupt, team.actor(team.alice), consent)

    assert reread(interrupt).status == "resolved"


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("reason", ["acme:approval", "input_required", "langgraph:interrupt"])
def test_requesters_approve_no_call_by_any_reason_and_entrance(
    team, asking, monkeypatch, later, reason, way
):
    interrupt, _ = asking(reason, {**CALL, **APPROVAL})
    client = Client()
    client.force_login(team.bob)

    assert way.answer(Scene(team, interrupt, client, monkeypatch, later)) == "SELF_APPROVAL"
    assert reread(interrupt).status == "open"


@pytest.mark.parametrize(("reason", "members", "consent"), CONSENTS, ids=str)
def test_who_may_approve_is_counted_as_the_gate_decides(team, asking, reason, members, consent):
    interrupt, erin = asking(reason, members)

    quorum = current_quorum(reread(interrupt), database_now())

    may_answer = str(erin.user_id) in [person.id for person in quorum.eligible_people()]
    recipients = with_groups(Membership.objects.filter(user=erin.user_id))
    may_be_told = may_decide(quorum, member_as_person(recipients[0]))
    is_question = members in ({}, YES_NO, CHOICE) and reason != "confirmation"
    assert (may_answer, may_be_told) == (is_question, is_question)


@pytest.mark.parametrize(
    ("reason", "members", "denial"),
    [
        ("acme:approval", {**CALL, **APPROVAL}, {"approved": False}),
        ("database_modification", APPROVAL, {"approved": False, "reason": "no"}),
        ("input_required", YES_NO, False),
        ("input_required", CHOICE, "reject"),
        ("input_required", {}, "The blue one, and not before Monday."),
        ("langgraph:interrupt", {}, "no"),
    ],
    ids=str,
)
def test_requesters_keep_answers_that_consent_to_nothing(asking, reason, members, denial):
    interrupt, erin = asking(reason, members)

    answer(interrupt, erin, denial)

    assert reread(interrupt).status == "resolved"


def test_requesters_deny_their_runs(team, run_of):
    erin = requesters(team)["key"]
    (interrupt,) = open_interrupts(run_of("propose", actor=erin))

    deny(interrupt, erin)

    assert reread(interrupt).status == "resolved"


def test_requesters_answer_questions_for_input(team, world):
    erin = requesters(team)["person"]
    (interrupt,) = open_interrupts(start(team, "rehearse:input_required", actor=erin))

    answer(interrupt, erin, {"quarter": "Q1", "year": 2026, "revenue": 1})

    assert reread(interrupt).status == "resolved"


def test_the_only_person_who_decides_may_approve(team, run_of):
    erin = requesters(team)["person"]
    (interrupt,) = open_interrupts(run_of("propose", actor=erin))
    Membership.objects.filter(user=team.alice).update(role="viewer")

    approve(interrupt, erin)

    assert reread(interrupt).status == "resolved"


def test_a_team_can_allow_self_approval(team, run_of):
    erin = requesters(team)["person"]
    (interrupt,) = open_interrupts(run_of("propose", actor=erin))
    change_team(team_id=team.team.pk, actor=erin, self_approval=True)

    approve(interrupt, erin)

    assert reread(interrupt).status == "resolved"


def test_a_team_can_return_to_the_default(team, run_of):
    erin = requesters(team)["person"]
    (interrupt,) = open_interrupts(run_of("propose", actor=erin))
    change_team(team_id=team.team.pk, actor=erin, self_approval=True)
    change_team(team_id=team.team.pk, actor=erin, self_approval=None)

    with pytest.raises(errors.SelfApproval):
        approve(interrupt, erin)


def test_a_rotated_key_counts_as_the_person_who_got_its_token(team, run_of):
    erin = requesters(team)["person"]
    (interrupt,) = open_interrupts(run_of("propose", actor=erin))
    key, _ = make_key(team_id=team.team.pk, name="ci", scopes=SCOPES, actor=SEED)
    _, token = rotate_key(key_id=key.pk, actor=erin)

    with pytest.raises(errors.SelfApproval):
        approve(interrupt, actor_of_key(token))
    assert ApiKey.objects.get(pk=key.pk).made_by_user_id == erin.user_id
