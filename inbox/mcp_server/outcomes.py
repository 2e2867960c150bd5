"""The results of tools: structured content for programs, sentences for models."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from inbox.actions.requests.call_permits import StartedCall, start_call
from inbox.queries.requests.requests import ItemView, RequestView, url_of
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.rules.requests.request_states import CallState, ItemStatus, RequestStatus

#: States of a call after which nothing is left to start or to wait for.
_ENDED = {
    CallState.SUCCEEDED: "It was executed before.",
    CallState.FAILED: "It was executed before, and failed without effect.",
    CallState.HANDED_OVER: "The approval was used before. Ask again for another call.",
    CallState.IN_DOUBT: "Nobody knows whether it took effect. A person is asked. Do not repeat it.",
    CallState.LAPSED: "It was not started in time, so the approval has lapsed. Ask again.",
    CallState.NOT_RUN: "It will not be executed.",
}


@dataclass(frozen=True)
class Outcome:
    """The result of a tool."""

    text: str
    structured: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return a CallToolResult."""
        result: dict[str, Any] = {
            "resultType": "complete",
            "content": [{"type": "text", "text": self.text}],
            "isError": self.is_error,
        }
        return {**result, "structuredContent": self.structured} if self.structured else result


def rejected(refusal: errors.RequestRejected) -> Outcome:
    """Return a rejection that a model can correct, or has to tell."""
    members = json.loads(json.dumps(dict(refusal.detail), default=str))
    return Outcome(
        text=f"{refusal.message} ({refusal.code})",
        structured={"code": refusal.code, "detail": refusal.message, **members},
        is_error=True,
    )


def single_item(view: RequestView) -> ItemView:
    """
    Return the only item of a request.

    Raises:
        InvalidInput: it has several, which were asked over REST.
    """
    if len(view.items) > 1:
        raise errors.InvalidInput("This request has several items. Read it with the REST API.")
    return view.items[0]


def is_open(view: RequestView) -> bool:
    """Return whether decisions are missing, or may still be withdrawn."""
    return view.row.status == RequestStatus.OPEN


def open_outcome(view: RequestView) -> Outcome:
    item = single_item(view)
    forbidden = f" Do not {item.tool} meanwhile." if item.tool else ""
    return Outcome(
        f"Nobody has answered yet. Call wait_for_decision with request_id {view.row.pk}."
        f"{forbidden} People decide at {url_of(view.row)}",
        _members(view, "open"),
    )


def decided_outcome(view: RequestView, *, actor: Actor, attempt: str) -> Outcome:
    """
    Return the outcome of a request that is not open; an approved call is started for this attempt.

    Raises:
        CallStarted, ApprovalEnded, CallInDoubt, NotApproved, OtherArguments, AlreadyReported.
    """
    item = single_item(view)
    if item.tool is None:
        return _answer_outcome(view, item)
    if item.status is not ItemStatus.APPROVED:
        return _refusal_outcome(view, item)
    if item.state in _ENDED:
        members = _members(view, _status_of_call(item.state), item, state=item.state.value)
        return Outcome(f"Approved{_by(item)}. {_ENDED[item.state]}", members)
    started = start_call(
        request_id=view.row.pk,
        item_id=item.id,
        attempt=attempt,
        args_digest=item.args_digest or "",
        actor=actor,
    )
    return _approval_outcome(view, item, started, attempt)


def _approval_outcome(
    view: RequestView, item: ItemView, started: StartedCall, attempt: str
) -> Outcome:
    changed = " with changes" if item.edited else ""
    report = (
        f" Then call report_result with request_id {view.row.pk} and attempt {attempt}."
        if item.report
        else ""
    )
    members = _members(
        view,
        "approved",
        item,
        args=started.args,
        edited=item.edited,
        attempt=attempt,
        idempotency_key=str(started.call.pk),
        lease_until=_time(started.call.lease_until),
        report=item.report,
    )
    arguments = json.dumps(started.args, ensure_ascii=False)
    return Outcome(
        f"Approved{_by(item)}{changed}. Call {item.tool} once, now, with exactly these arguments: "
        f"{arguments}{report}",
        members,
    )


def _answer_outcome(view: RequestView, item: ItemView) -> Outcome:
    if item.status in (ItemStatus.APPROVED, ItemStatus.DENIED):
        answer: Any = item.status is ItemStatus.APPROVED
        word = "Yes" if answer else "No"
        members = _members(view, "answered", item, answer=answer, **_reason(item))
        return Outcome(f"{word}{_comma(_by(item))}.{_told(item)}", members)
    if item.status is ItemStatus.ANSWERED:
        members = _members(view, "answered", item, answer=item.payload)
        text = json.dumps(item.payload, ensure_ascii=False)
        return Outcome(f"The answer{_by(item)}: {text}", members)
    return _refusal_outcome(view, item)


def _refusal_outcome(view: RequestView, item: ItemView) -> Outcome:
    texts = {
        ItemStatus.DENIED: f"Denied{_by(item)}.{_told(item)}",
        ItemStatus.EXPIRED: "Nobody has answered in time, so the request has expired.",
        ItemStatus.WITHDRAWN: "The request was withdrawn.",
    }
    text = texts.get(item.status, "The request has ended.")
    forbidden = f" Do not {item.tool}." if item.tool else ""
    return Outcome(text + forbidden, _members(view, item.status.value, item, **_reason(item)))


def _members(
    view: RequestView, status: str, item: ItemView | None = None, **more: Any
) -> dict[str, Any]:
    members = {"status": status, "request_id": str(view.row.pk), "url": url_of(view.row)}
    author = {"by": dict(item.by), "at": _time(item.at)} if item and item.by else {}
    return {**members, **author, **more}


def _status_of_call(state: CallState) -> str:
    is_over = state in (CallState.IN_DOUBT, CallState.LAPSED)
    return state.value if is_over else ItemStatus.APPROVED.value


def _reason(item: ItemView) -> dict[str, str]:
    return {"reason": item.reason} if item.reason else {}


def _told(item: ItemView) -> str:
    return f" Reason: {item.reason}" if item.reason else ""


def _by(item: ItemView) -> str:
    return f" by {item.by['name']}" if item.by else ""


def _comma(text: str) -> str:
    return f",{text}" if text else ""


def _time(time: datetime | None) -> str | None:
    return time.isoformat().replace("+00:00", "Z") if time else None


def deny_text(outcome: Outcome) -> str:
    """Return what Claude Code tells the model when a call is not allowed."""
    members = outcome.structured
    if members.get("status") != ItemStatus.DENIED:
        return outcome.text
    by = members.get("by", {}).get("name", "a person")
    reason = members.get("reason")
    return f"Denied by {by} in Signoff: {reason}" if reason else f"Denied by {by} in Signoff."


def task_attempt(request_id: UUID) -> str:
    """Return the attempt of a task: polls of one task get one permit, with the same answer."""
    return f"task-{request_id}"
