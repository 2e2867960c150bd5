"""Rows as the JSON that REST answers with."""

import json
from collections.abc import Mapping
from typing import Any, cast

from agents.agui.conversation import is_from_client
from inbox.actions.decisions.bulk import BulkResult
from inbox.api.base import response_models
from inbox.api.base.error_responses import body_of
from inbox.queries.agents.agents import AgentLocation
from inbox.queries.decisions.interrupts import InterruptDetail
from inbox.queries.decisions.masked_values import interrupt_bodies_by_call
from inbox.queries.runs.threads import Hydration
from inbox.rules.agents.connection_test_messages import connection_test_message
from inbox.rules.decisions.consent import SIGNOFF
from inbox.rules.people.access import Actor, may_see_secrets
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.schema.mask_agui import (
    masked_event,
    masked_interrupt,
    masked_message,
    secrets_of_answers,
    secrets_of_arguments,
)
from inbox.rules.schema.secrets import NAMES, Secrets, pointer


def agent_json(agent: Any, place: AgentLocation) -> response_models.Agent:
    return {
        "id": str(agent.pk),
        "name": agent.slug,
        "team": agent.team.slug,
        "description": agent.description,
        "url": f"/agui/{agent.slug}/",
        "kind": "remote" if place.is_remote else "local",
        "remote": _place_json(place) if place.is_remote else None,
    }


def _place_json(place: AgentLocation) -> response_models.Remote:
    """Where it is, for administrators; the values of its headers are for nobody."""
    at: Any = place.tested_at
    if not place.may_change:
        return {"test": {"found": place.test["found"], "at": at} if place.test else None}
    names = None if place.header_names is None else list(place.header_names)
    test: response_models.LatestTest | None = (
        {**test_json(place.test), "at": at} if place.test else None
    )
    return {"url": place.url, "headers": names, "test": test}


def test_json(report: Mapping[str, Any]) -> response_models.ConnectionTest:
    """What the test of a connection found."""
    return {
        "found": report["found"],
        "message": connection_test_message(report),
        "status": report["status"],
        "content_type": report["content_type"] or None,
        "detail": report["detail"] or None,
        "protocol_version": report["protocol_version"] or None,
        "dialect": report["dialect"] or None,
        "events": report["events"] or None,
        "error": report["error"] or None,
        "refused": report["refused"],
        "began_to_work": report["began_to_work"],
        "capabilities": report["told"],
        "milliseconds": report["milliseconds"],
    }


def thread_json(thread: Any) -> response_models.Thread:
    return {
        "id": str(thread.pk),
        "thread_id": thread.external_id,
        "agent": thread.agent.slug,
        "title": thread.title,
        "last_seq": thread.next_seq - 1,
        "created_at": thread.created_at,
        "updated_at": thread.updated_at,
    }


def messages_json(known: Hydration, whole: bool) -> list[Any]:
    """The messages of a thread with their sources; calls and results masked unless as a `whole`."""
    asked = {} if whole else interrupt_bodies_by_call(known.thread)
    return [
        _with_source(one if whole else masked_message(one, asked), one, known.client_messages)
        for one in known.messages
    ]


def _with_source(
    message: dict[str, Any], whole: dict[str, Any], client_messages: Mapping[str, str]
) -> dict[str, Any]:
    """Add who wrote a message, by what it is as a `whole`; its role is only what they say."""
    source = "client" if is_from_client(whole, client_messages) else "agent"
    metadata = {**(message.get("metadata") or {}), SIGNOFF: {"source": source}}
    return {**message, "metadata": metadata}


def run_json(run: Any, terminal: str = "", *, whole: bool = False) -> response_models.Run:
    return {
        "id": str(run.pk),
        "run_id": run.external_id,
        "thread": str(run.thread_id),
        "thread_id": run.thread.external_id,
        "agent": run.thread.agent.slug,
        "status": run.status,
        "attempt": run.attempt,
        "error_code": run.error_code or None,
        "resumes": str(run.resumes_id) if run.resumes_id else None,
        "retries": str(run.retries_id) if run.retries_id else None,
        "started_by": run.started_by,
        "queued_at": run.queued_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "terminal_event": _event(json.loads(terminal), whole) if terminal else None,
    }


def _event(event: dict[str, Any], whole: bool) -> dict[str, Any]:
    return event if whole else masked_event(event)


def interrupt_json(row: Any, *, whole: bool) -> response_models.Interrupt:
    """An interrupt; secrets in it are masked, unless it is asked for as a `whole`."""
    standing = next(iter(row.standing), None)
    call, asked = row.tool_call, json.loads(row.body)
    args, secrets = _args(row), secrets_of_arguments(row.body)
    return {
        "id": str(row.pk),
        "interrupt_id": row.interrupt_id,
        "run": str(row.run_id),
        "thread": str(row.thread_id),
        "thread_id": row.thread.external_id,
        "agent": row.thread.agent.slug,
        "status": row.status,
        "reason": row.reason,
        "title": row.title,
        "tool": call.name if call else None,
        "args": args if whole else secrets.masked(args),
        "interrupt": asked if whole else masked_interrupt(asked),
        "masked": [] if whole else _masked(args, asked, secrets),
        "view_digest": row.shown_digest,
        "expires_at": row.expires_at,
        "created_at": row.created_at,
        "closed_at": row.closed_at,
        "decision": decision_json(standing, None if whole else row.body) if standing else None,
    }


def _args(row: Any) -> Any:
    """What an approval lets run: another answer may have changed it since this was asked."""
    if row.args is None:
        return None
    return json.loads(row.tool_call.approved_args if row.status == "open" else row.args)


def _masked(args: Any, asked: Any, secrets: Secrets) -> list[response_models.Masked]:
    hidden = {("args", *path): by for path, by in secrets.hidden_by(args).items()}
    beside = NAMES.hidden_by(asked.get("metadata"))
    hidden |= {("interrupt", "metadata", *path): by for path, by in beside.items()}
    return [{"pointer": pointer(path), "hidden_by": by.value} for path, by in hidden.items()]


def detail_json(detail: InterruptDetail, *, whole: bool) -> response_models.InterruptWithSiblings:
    row = detail.interrupt
    row.standing = [detail.decision] if detail.decision else []  # type: ignore[attr-defined]
    return {
        **interrupt_json(row, whole=whole),
        "siblings": [
            {"id": str(item.pk), "title": item.title, "status": InterruptStatus(item.status)}
            for item in detail.siblings
        ],
    }


def claim_json(claim: Any) -> response_models.Claim:
    return {"by": claim.holder.name, "at": claim.claimed_at, "until": claim.until}


def comment_json(comment: Any) -> response_models.Comment:
    return {
        "id": str(comment.pk),
        "text": comment.text,
        "by": comment.user.display_name,
        "at": comment.created_at,
    }


def result_json(result: BulkResult) -> response_models.Result:
    """What became of one of many: a decision, or the error that one alone would have been."""
    return {
        "id": str(result.interrupt_id),
        "decision": decision_json(result.decision, "{}") if result.decision else None,
        "error": cast("response_models.Problem", body_of(result.refusal))
        if result.refusal
        else None,
    }


def told_decision_json(decision: Any, actor: Actor) -> response_models.Decision:
    """A decision as an answer of its own."""
    return decision_json(decision, None if may_see_secrets(actor) else decision.interrupt.body)


def decision_json(decision: Any, asked: str | None) -> response_models.Decision:
    """A decision; its payload masked as `asked` for, an AG-UI Interrupt, or whole without that."""
    payload = None if decision.payload is None else json.loads(decision.payload)
    if asked is not None:
        payload = secrets_of_answers(asked).masked(payload)
    return {
        "id": str(decision.pk),
        "status": decision.status,
        "payload": payload,
        "unseen": decision.unseen,
        "by": decision.actor_label,
        "at": decision.created_at,
        "withdrawn_at": decision.withdrawn_at,
    }
