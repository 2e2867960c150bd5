"""The audit trail of a run in sentences."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from inbox.domain.access import ActorKind
from inbox.domain.faces import hue, initials
from inbox.domain.shown import visible

_SAYS = {
    "run.started": "started the run",
    "run.interrupted": "asked for a decision",
    "run.succeeded": "finished",
    "run.failed": "failed",
    "run.cancelled": "cancelled the run",
    "run.recovered": "took the run over from a lost worker",
    "interrupt.resolved": "answered",
    "interrupt.cancelled": "cancelled this",
    "interrupt.expired": "closed this: nobody answered in time",
    "interrupt.claimed": "took this",
    "interrupt.taken_over": "took this over",
    "interrupt.released": "gave this back",
    "interrupt.commented": "commented",
    "decision.withdrawn": "took the answer back",
    "run.retried": "tried the failed run again",
    "resume.rejected": "sent an answer that was refused",
}
_BY_AGENT = {"run.interrupted", "run.succeeded", "run.failed"}


@dataclass(frozen=True)
class Line:
    who: str
    what: str
    note: str  #: the reason that was given
    at: datetime
    initials: str  #: "" for agents and machines, which have an icon
    hue: int


def lines_of(entries: Iterable[Any], *, agent: str, me: int | None) -> list[Line]:
    """The entries in words; what an agent did carries the agent's name."""
    return [_line(entry, agent, me) for entry in entries]


def _line(entry: Any, agent: str, me: int | None) -> Line:
    payload = json.loads(entry.detail).get("payload")
    answer = payload if isinstance(payload, dict) else {}
    is_person = entry.actor_kind == ActorKind.HUMAN
    is_me = is_person and me is not None and entry.actor_id == str(me)
    who = agent if entry.action in _BY_AGENT else entry.actor_label
    reason = answer.get("reason")
    return Line(
        who="You" if is_me else who,
        what=_what(entry.action, answer),
        note=visible(reason) if isinstance(reason, str) else "",
        at=entry.at,
        initials=initials(entry.actor_label) if is_person else "",
        hue=hue(int(entry.actor_id)) if is_person and entry.actor_id.isdigit() else 1,
    )


def _what(action: str, answer: dict[str, Any]) -> str:
    if action == "interrupt.resolved" and isinstance(answer.get("approved"), bool):
        if not answer["approved"]:
            return "rejected"
        return "approved with changes" if "editedArgs" in answer else "approved"
    return _SAYS.get(action, action.replace(".", " "))
