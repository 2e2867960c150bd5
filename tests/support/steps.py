"""What tests do, in the words of the product."""

import json
from typing import Any
from uuid import UUID, uuid4

from inbox import engine
from inbox.actions.decisions.decide import decide
from inbox.actions.runs.start_run import RunRequest, StartedRun, start_run
from inbox.rules.decisions.gate import Entrance
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus

APPROVE = {"approved": True}
DENY = {"approved": False, "reason": "not today"}


def user_message(text: str) -> dict[str, Any]:
    return {"id": f"u-{uuid4()}", "role": "user", "content": text}


def request(
    text: str = "",
    *,
    thread_id: str | None = None,
    run_id: str | None = None,
    entries: tuple[ResumeEntry, ...] = (),
) -> RunRequest:
    """A RunAgentInput that says `text`, or answers interrupts."""
    return RunRequest(
        thread_id=thread_id or str(uuid4()),
        run_id=run_id or str(uuid4()),
        input={
            "messages": [user_message(text)] if text else [],
            "state": None,
            "tools": [],
            "context": [],
            "forwardedProps": None,
        },
        entries=entries,
        has_resume=bool(entries),
    )


def start(world: Any, text: str, *, actor: Any = None, agent: Any = None, **ids: Any) -> Any:
    """Start a run and drive it to its end in this thread; return the run as it ended."""
    accepted = start_run(
        agent=agent or world.agent,
        request=request(text, **ids),
        actor=actor or world.actor(world.alice),
    )
    return drive(accepted)


def drive(accepted: StartedRun) -> Any:
    engine.execute_run(accepted.run.pk)
    return reread(accepted.run)


def reread(row: Any) -> Any:
    return type(row).objects.get(pk=row.pk)


def resumed_run(run: Any) -> Any:
    """The run that resumes this one, driven to its end, or None if there is none."""
    following = type(run).objects.filter(resumes=run).first()
    if following is None:
        return None
    engine.execute_run(following.pk)
    return reread(following)


def open_interrupts(run: Any) -> list[Any]:
    return list(run.interrupts.filter(status="open").order_by("position"))


def approve(interrupt: Any, actor: Any, **more: Any) -> Any:
    return answer(interrupt, actor, {**APPROVE, **more})


def deny(interrupt: Any, actor: Any) -> Any:
    return answer(interrupt, actor, DENY)


def answer(interrupt: Any, actor: Any, payload: Any) -> Any:
    """Decide over REST what is shown now; what is masked is approved without a reveal."""
    return decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.RESOLVED,
        payload=payload,
        view_digest=reread(interrupt).shown_digest,
        actor=actor,
        entrance=Entrance.REST,
        unseen=True,
    )


def call_off(interrupt: Any, actor: Any) -> Any:
    return decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.CANCELLED,
        view_digest=reread(interrupt).shown_digest,
        actor=actor,
        entrance=Entrance.REST,
    )


def entry(interrupt: Any, payload: Any = None, *, cancelled: bool = False) -> ResumeEntry:
    status = EntryStatus.CANCELLED if cancelled else EntryStatus.RESOLVED
    return ResumeEntry(interrupt.interrupt_id, status, payload)


def events(thread_id: UUID) -> list[dict[str, Any]]:
    """The thread's log as the clients get it."""
    from inbox.models import Event

    rows = Event.objects.filter(thread=thread_id).order_by("seq")
    return [json.loads(body) for body in rows.values_list("body", flat=True)]


def event_types(run: Any) -> list[str]:
    return list(run.events.order_by("seq").values_list("type", flat=True))


def results(run: Any) -> list[dict[str, Any]]:
    """The contents of the run's TOOL_CALL_RESULT events."""
    bodies = run.events.filter(type="TOOL_CALL_RESULT").order_by("seq")
    return [json.loads(json.loads(event.body)["content"]) for event in bodies]


def audit_actions(thread: Any) -> list[str]:
    return list(thread.audit.order_by("pk").values_list("action", flat=True))
