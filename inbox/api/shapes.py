"""Rows as the JSON that REST answers with."""

import json
from collections.abc import Mapping
from typing import Any

from inbox.actions.bulk import Result
from inbox.api.errors import body_of
from inbox.domain.connections import sentence_of
from inbox.selectors.agents import Place
from inbox.selectors.interrupts import InterruptDetail


def agent_json(agent: Any, place: Place) -> dict[str, Any]:
    return {
        "id": str(agent.pk),
        "name": agent.slug,
        "team": agent.team.slug,
        "description": agent.description,
        "url": f"/agui/{agent.slug}/",
        "kind": "remote" if place.is_remote else "local",
        "remote": _place_json(place) if place.is_remote else None,
    }


def _place_json(place: Place) -> dict[str, Any]:
    """Where it is, for administrators; the values of its headers are for nobody."""
    test = None
    if place.test is not None:
        test = test_json(place.test) if place.may_change else {"found": place.test["found"]}
        test["at"] = place.tested_at
    if not place.may_change:
        return {"test": test}
    return {"url": place.url, "headers": place.header_names, "test": test}


def test_json(report: Mapping[str, Any]) -> dict[str, Any]:
    """What the test of a connection found."""
    return {
        "found": report["found"],
        "message": sentence_of(report),
        **{name: report[name] or None for name in _OF_A_TEST},
        "refused": report["refused"],
        "began_to_work": report["began_to_work"],
        "capabilities": report["told"],
        "milliseconds": report["milliseconds"],
    }


_OF_A_TEST = (
    *("status", "content_type", "detail", "protocol_version", "dialect", "events", "error"),
)


def thread_json(thread: Any) -> dict[str, Any]:
    return {
        "id": str(thread.pk),
        "thread_id": thread.external_id,
        "agent": thread.agent.slug,
        "title": thread.title,
        "last_seq": thread.next_seq - 1,
        "created_at": thread.created_at,
        "updated_at": thread.updated_at,
    }


def run_json(run: Any, terminal: str = "") -> dict[str, Any]:
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
        "terminal_event": json.loads(terminal) if terminal else None,
    }


def interrupt_json(row: Any) -> dict[str, Any]:
    standing = next(iter(row.standing), None)
    call = row.tool_call
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
        "args": _args(row),
        "interrupt": json.loads(row.body),
        "view_digest": row.shown_digest,
        "expires_at": row.expires_at,
        "created_at": row.created_at,
        "closed_at": row.closed_at,
        "decision": decision_json(standing) if standing else None,
    }


def _args(row: Any) -> Any:
    """What an approval lets run: another answer may have changed it since this was asked."""
    if row.args is None:
        return None
    return json.loads(row.tool_call.approved_args if row.status == "open" else row.args)


def detail_json(detail: InterruptDetail) -> dict[str, Any]:
    row = detail.interrupt
    row.standing = [detail.decision] if detail.decision else []  # type: ignore[attr-defined]
    return {
        **interrupt_json(row),
        "siblings": [
            {"id": str(item.pk), "title": item.title, "status": item.status}
            for item in detail.siblings
        ],
    }


def claim_json(claim: Any) -> dict[str, Any]:
    return {"by": claim.holder.name, "at": claim.claimed_at, "until": claim.until}


def comment_json(comment: Any) -> dict[str, Any]:
    return {
        "id": str(comment.pk),
        "text": comment.text,
        "by": comment.user.display_name,
        "at": comment.created_at,
    }


def result_json(result: Result) -> dict[str, Any]:
    """What became of one of many: a decision, or the error that one alone would have been."""
    return {
        "id": str(result.interrupt_id),
        "decision": decision_json(result.decision) if result.decision else None,
        "error": body_of(result.refusal) if result.refusal else None,
    }


def decision_json(decision: Any) -> dict[str, Any]:
    return {
        "id": str(decision.pk),
        "status": decision.status,
        "payload": None if decision.payload is None else json.loads(decision.payload),
        "by": decision.actor_label,
        "at": decision.created_at,
        "withdrawn_at": decision.withdrawn_at,
    }
