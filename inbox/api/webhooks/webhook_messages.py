"""What webhooks are told, for the section `webhooks` of the schema; `outbox.py` writes it."""

from datetime import datetime
from typing import Any, Final, Literal

from drf_spectacular.utils import OpenApiExample, OpenApiWebhook, extend_schema
from typing_extensions import TypedDict

from inbox.api.base.response_models import Id, exact
from inbox.rules.people.access import ActorKind
from inbox.rules.runs.states import EntryStatus, InterruptStatus, RunStatus
from inbox.rules.webhooks.delivery_rules import EventType


@exact
class ToldThread(TypedDict):
    id: Id
    thread_id: str
    """The client's name for it."""
    url: str
    """Its page, for people."""


@exact
class ToldRun(TypedDict):
    id: Id
    run_id: str
    """The client's name for it."""


@exact
class EndedRun(ToldRun):
    status: RunStatus
    error_code: str | None


@exact
class ToldInterrupt(TypedDict):
    """A question, without what is asked: whoever may know that reads it by its id."""

    id: Id
    interrupt_id: str
    """The agent's name for it."""
    status: InterruptStatus
    reason: str
    tool: str | None
    expires_at: datetime | None
    url: str
    """Its page, for people."""


@exact
class ToldDecision(TypedDict):
    status: EntryStatus
    approved: bool | None
    by: str
    kind: ActorKind
    at: datetime


@exact
class About(TypedDict):
    """What every message says."""

    thread: ToldThread
    agent: str
    team: str


@exact
class OfARun(About):
    run: EndedRun


@exact
class OfAQuestion(About):
    run: ToldRun
    interrupt: ToldInterrupt


@exact
class OfAnOpenQuestion(OfAQuestion):
    reopened: bool
    """Its answer was taken back."""


@exact
class OfAClosedQuestion(OfAQuestion):
    decision: ToldDecision


@exact
class Nothing(TypedDict):
    """Whoever tries an endpoint tells it nothing."""


@exact
class RunMessage(TypedDict):
    type: Literal[EventType.RUN_INTERRUPTED, EventType.RUN_FINISHED]
    timestamp: datetime
    data: OfARun


@exact
class OpenedMessage(TypedDict):
    type: Literal[EventType.INTERRUPT_OPENED]
    timestamp: datetime
    data: OfAnOpenQuestion


@exact
class ExpiringMessage(TypedDict):
    type: Literal[EventType.INTERRUPT_EXPIRING]
    timestamp: datetime
    data: OfAQuestion


@exact
class ClosedMessage(TypedDict):
    type: Literal[EventType.INTERRUPT_DECIDED, EventType.INTERRUPT_EXPIRED]
    timestamp: datetime
    data: OfAClosedQuestion


@exact
class TestMessage(TypedDict):
    type: Literal["webhook.test"]
    timestamp: datetime
    data: Nothing


_AT: Final = "2026-11-21T09:30:00.125Z"
_ABOUT: Final = {
    "thread": {
        "id": "01934f5e-7c10-7e4b-9a52-0d6c6a1f0001",
        "thread_id": "order-17",
        "url": "https://signoff.example.com/threads/01934f5e-7c10-7e4b-9a52-0d6c6a1f0001/",
    },
    "agent": "mailer",
    "team": "ops",
}
_RUN: Final = {"id": "01934f5e-7c10-7e4b-9a52-0d6c6a1f0002", "run_id": "r-1"}
_QUESTION: Final = {
    "id": "01934f5e-7c10-7e4b-9a52-0d6c6a1f0003",
    "interrupt_id": "int-1",
    "status": "open",
    "reason": "tool_call",
    "tool": "write_to_customer",
    "expires_at": None,
    "url": "https://signoff.example.com/interrupts/01934f5e-7c10-7e4b-9a52-0d6c6a1f0003/",
}


def _run(status: str) -> dict[str, Any]:
    return {"run": {**_RUN, "status": status, "error_code": None}}


def _question(status: str, **more: Any) -> dict[str, Any]:
    return {"interrupt": {**_QUESTION, "status": status}, "run": _RUN, **more}


def _decision(status: str, approved: bool | None, by: str, kind: str) -> dict[str, Any]:
    said = {"status": status, "approved": approved, "by": by, "kind": kind, "at": _AT}
    return {"decision": said}


_EXPIRED: Final = _decision("cancelled", None, "system:expiry", "system")
_MESSAGES: Final[dict[str, tuple[Any, str, dict[str, Any]]]] = {
    "run.interrupted": (RunMessage, "A run has paused with questions", _run("interrupted")),
    "run.finished": (RunMessage, "A run has ended", _run("succeeded")),
    "interrupt.opened": (OpenedMessage, "People are asked", _question("open", reopened=False)),
    "interrupt.decided": (
        ClosedMessage,
        "Somebody has answered, or called it off",
        _question("resolved", **_decision("resolved", True, "Kim Lee", "human")),
    ),
    "interrupt.expiring": (ExpiringMessage, "An open question expires soon", _question("open")),
    "interrupt.expired": (
        ClosedMessage,
        "Nobody has answered in time",
        _question("expired", **_EXPIRED),
    ),
    "webhook.test": (TestMessage, "Somebody tries the endpoint", {}),
}
#: The document has no place for the headers of a webhook but its text.
_SIGNED: Final = (
    "Signed as Standard Webhooks says, in `webhook-id` (the same whenever it is sent), "
    "`webhook-timestamp` and `webhook-signature`."
)


def _webhook(name: str, shape: Any, summary: str, data: dict[str, Any]) -> OpenApiWebhook:
    told = {**data, **_ABOUT} if data else {}
    message = {"type": name, "timestamp": _AT, "data": told}
    described = extend_schema(
        summary=summary,
        tags=["webhooks"],
        description=_SIGNED,
        request={"application/json": shape},
        responses={"2XX": None},
        examples=[OpenApiExample("message", message)],
    )
    return OpenApiWebhook(name, described)


#: For drf-spectacular.
WEBHOOKS: Final = [_webhook(name, *told) for name, told in _MESSAGES.items()]
