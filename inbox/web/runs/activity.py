"""The audit trail of a run in sentences."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop

from inbox.rules.people.access import ActorKind
from inbox.rules.people.avatars import avatar_colour, initials
from inbox.rules.text.safe_text import escape_invisible

#: What somebody did, as others read it and as they read it themselves.
_SAYS = {
    "run.started": (gettext_noop("{who} started the run"), gettext_noop("You started the run")),
    "run.interrupted": (gettext_noop("{who} asked for a decision"), ""),
    "run.succeeded": (gettext_noop("{who} finished"), ""),
    "run.failed": (gettext_noop("{who} failed"), ""),
    "run.cancelled": (
        gettext_noop("{who} cancelled the run"),
        gettext_noop("You cancelled the run"),
    ),
    "run.recovered": (gettext_noop("{who} took the run over from a lost worker"), ""),
    "interrupt.resolved": (gettext_noop("{who} answered"), gettext_noop("You answered")),
    "interrupt.cancelled": (
        gettext_noop("{who} cancelled this"),
        gettext_noop("You cancelled this"),
    ),
    "interrupt.expired": (gettext_noop("{who} closed this: nobody answered in time"), ""),
    "interrupt.claimed": (gettext_noop("{who} took this"), gettext_noop("You took this")),
    "interrupt.taken_over": (
        gettext_noop("{who} took this over"),
        gettext_noop("You took this over"),
    ),
    "interrupt.released": (
        gettext_noop("{who} gave this back"),
        gettext_noop("You gave this back"),
    ),
    "interrupt.commented": (gettext_noop("{who} commented"), gettext_noop("You commented")),
    "decision.withdrawn": (
        gettext_noop("{who} took the answer back"),
        gettext_noop("You took the answer back"),
    ),
    "run.retried": (
        gettext_noop("{who} tried the failed run again"),
        gettext_noop("You tried the failed run again"),
    ),
    "resume.rejected": (
        gettext_noop("{who} sent an answer that was refused"),
        gettext_noop("You sent an answer that was refused"),
    ),
}
_SAYS |= {
    "interrupt.opened": (gettext_noop("{who} asked"), ""),
    "interrupt.viewed": (gettext_noop("{who} has seen this"), gettext_noop("You have seen this")),
    "interrupt.refused": (
        gettext_noop("{who} sent an answer that was not taken"),
        gettext_noop("You sent an answer that was not taken"),
    ),
    "resume.queued": (gettext_noop("{who} completed the answers: the run goes on"), ""),
    "tool.started": (gettext_noop("{who} started the tool"), ""),
    "tool.settled": (gettext_noop("{who} told the result"), ""),
    "tool.refused": (gettext_noop("{who} wanted to start the tool, and was refused"), ""),
    "audit.erased": (
        gettext_noop("{who} erased names and texts"),
        gettext_noop("You erased names and texts"),
    ),
    "audit.exported": (gettext_noop("{who} exported this"), gettext_noop("You exported this")),
    "audit.revealed": (
        gettext_noop("{who} revealed what is masked"),
        gettext_noop("You revealed what is masked"),
    ),
}
#: What was refused, by what was tried; an answer, if the entry does not say.
_REFUSED = {
    "withdraw": (
        gettext_noop("{who} wanted to take an answer back, and was refused"),
        gettext_noop("You wanted to take an answer back, and were refused"),
    ),
    "claim": (
        gettext_noop("{who} wanted to take this, and was refused"),
        gettext_noop("You wanted to take this, and were refused"),
    ),
    "retry": (
        gettext_noop("{who} wanted to try the run again, and was refused"),
        gettext_noop("You wanted to try the run again, and were refused"),
    ),
    "cancel": (
        gettext_noop("{who} wanted to cancel the run, and was refused"),
        gettext_noop("You wanted to cancel the run, and were refused"),
    ),
}
_APPROVED = (gettext_noop("{who} approved"), gettext_noop("You approved"))
_APPROVED_WITH_CHANGES = (
    gettext_noop("{who} approved with changes"),
    gettext_noop("You approved with changes"),
)
_APPROVED_UNSEEN = (
    gettext_noop("{who} approved without seeing what was masked"),
    gettext_noop("You approved without seeing what was masked"),
)
_REJECTED = (gettext_noop("{who} rejected"), gettext_noop("You rejected"))
_BY_AGENT = {"run.interrupted", "run.succeeded", "run.failed"}


@dataclass(frozen=True)
class Line:
    sentence: str  #: what was done by whom, as markup
    note: str  #: the reason that was given
    at: datetime
    initials: str  #: "" for agents and machines, which have an icon
    hue: int


def lines_of(entries: Iterable[Any], *, agent: str, me: int | None) -> list[Line]:
    """The entries in words; what an agent did carries the agent's name."""
    return [_line(entry, agent, me) for entry in entries]


def _line(entry: Any, agent: str, me: int | None) -> Line:
    told = entry.told
    payload = told["detail"].get("payload")
    answer = payload if isinstance(payload, dict) else {}
    is_person = entry.actor_kind == ActorKind.HUMAN
    is_me = is_person and me is not None and entry.actor_id == str(me)
    name = told["actor"] or gettext("Somebody whose name was erased")
    is_agent = entry.action in _BY_AGENT or entry.actor_kind == ActorKind.AGENT
    who = agent if is_agent else name
    reason = answer.get("reason")
    return Line(
        sentence=_sentence(entry.action, told["detail"], who=who, is_me=is_me),
        note=escape_invisible(reason) if isinstance(reason, str) else "",
        at=entry.at,
        initials=initials(name) if is_person else "",
        hue=avatar_colour(int(entry.actor_id)) if is_person and entry.actor_id.isdigit() else 1,
    )


def _sentence(action: str, detail: dict[str, Any], *, who: str, is_me: bool) -> str:
    by_others, by_me = _pair(action, detail)
    # The pattern is ours and may be trusted; the name is not.
    return format_html(
        gettext(by_me if is_me and by_me else by_others),
        who=format_html("<strong><bdi>{}</bdi></strong>", who),
    )


def _pair(action: str, detail: dict[str, Any]) -> tuple[str, str]:
    payload = detail.get("payload")
    answer = payload if isinstance(payload, dict) else {}
    if detail.get("tried") in _REFUSED:
        return _REFUSED[detail["tried"]]
    if action == "interrupt.resolved" and isinstance(answer.get("approved"), bool):
        if not answer["approved"]:
            return _REJECTED
        if detail.get("unseen"):
            return _APPROVED_UNSEEN
        return _APPROVED_WITH_CHANGES if "editedArgs" in answer else _APPROVED
    return _SAYS.get(action, ("{who} " + action.replace(".", " "), ""))
