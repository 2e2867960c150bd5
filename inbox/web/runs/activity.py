"""Audit entries as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop

from inbox.rules.decisions.feedback import feedback_of
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import POLICY, ActorKind
from inbox.rules.people.avatars import avatar_colour, initials
from inbox.rules.policies.endorsements import answer_text
from inbox.rules.schema.secrets import Secrets
from inbox.rules.text.safe_text import escape_invisible

if TYPE_CHECKING:
    from inbox.models import AuditEntry


#: The sentence for other users, and for the actor.
_SENTENCES = {
    "run.started": (gettext_noop("{who} started the run"), gettext_noop("You started the run")),
    "run.interrupted": (gettext_noop("{who} paused for decisions"), ""),
    "run.succeeded": (gettext_noop("{who} finished"), ""),
    "run.failed": (gettext_noop("{who} failed"), ""),
    "run.cancelled": (
        gettext_noop("{who} cancelled the run"),
        gettext_noop("You cancelled the run"),
    ),
    "thread.restored": (
        gettext_noop("{who} restored this from a backup. Later decisions and results are missing."),
        "",
    ),
    "run.recovered": (gettext_noop("{who} took the run over from a lost worker"), ""),
    "interrupt.resolved": (gettext_noop("{who} answered"), gettext_noop("You answered")),
    "interrupt.cancelled": (
        gettext_noop("{who} cancelled this"),
        gettext_noop("You cancelled this"),
    ),
    "interrupt.expired": (gettext_noop("{who} closed this request as expired"), ""),
    "interrupt.claimed": (gettext_noop("{who} claimed this"), gettext_noop("You claimed this")),
    "interrupt.taken_over": (
        gettext_noop("{who} took this over"),
        gettext_noop("You took this over"),
    ),
    "interrupt.released": (
        gettext_noop("{who} released this"),
        gettext_noop("You released this"),
    ),
    "interrupt.commented": (gettext_noop("{who} commented"), gettext_noop("You commented")),
    "decision.withdrawn": (
        gettext_noop("{who} withdrew the answer"),
        gettext_noop("You withdrew the answer"),
    ),
    "run.retried": (
        gettext_noop("{who} retried the failed run"),
        gettext_noop("You retried the failed run"),
    ),
    "resume.rejected": (
        gettext_noop("{who} sent an answer that was rejected"),
        gettext_noop("You sent an answer that was rejected"),
    ),
}
_SENTENCES |= {
    "interrupt.assigned": (
        gettext_noop("{who} assigned this to {to}"),
        gettext_noop("You assigned this to {to}"),
    ),
    "interrupt.unassigned": (
        gettext_noop("{who} removed {to} as the assignee"),
        gettext_noop("You removed {to} as the assignee"),
    ),
    "interrupt.opened": (gettext_noop("{who} requested a decision"), ""),
    "interrupt.reminded": (gettext_noop("{who} sent a reminder"), ""),
    "interrupt.escalated": (gettext_noop("{who} let more people decide"), ""),
    "interrupt.overridden": (
        gettext_noop("{who} overrode the policy"),
        gettext_noop("You overrode the policy"),
    ),
    "interrupt.endorsed": (
        gettext_noop("{who} approved as one of several"),
        gettext_noop("You approved as one of several"),
    ),
    "endorsement.withdrawn": (
        gettext_noop("{who} withdrew an approval"),
        gettext_noop("You withdrew your approval"),
    ),
    "grant.made": (
        gettext_noop("{who} allowed further calls"),
        gettext_noop("You allowed further calls"),
    ),
    "grant.ended": (
        gettext_noop("{who} ended a permission for further calls"),
        gettext_noop("You ended a permission for further calls"),
    ),
    "policy.reapplied": (
        gettext_noop("{who} applied the changed policy"),
        gettext_noop("You applied the changed policy"),
    ),
    "policy.unreadable": (
        gettext_noop("{who} could not read the policy, so people are asked"),
        "",
    ),
    "run.refused": (
        gettext_noop("{who} tried to change the run (refused)"),
        gettext_noop("You tried to change the run (refused)"),
    ),
    "interrupt.viewed": (gettext_noop("{who} viewed this"), gettext_noop("You viewed this")),
    "interrupt.refused": (
        gettext_noop("{who} sent an answer that was not accepted"),
        gettext_noop("You sent an answer that was not accepted"),
    ),
    "link.issued": (gettext_noop("{who} mailed {to} a link to decide this"), ""),
    "link.used": (
        gettext_noop("{who} opened the link of a mail and decided"),
        gettext_noop("You opened the link of a mail and decided"),
    ),
    "link.refused": (
        gettext_noop("{who} sent an answer by the link of a mail that was not accepted"),
        gettext_noop("You sent an answer by the link of a mail that was not accepted"),
    ),
    "resume.queued": (gettext_noop("{who} gave the last answer; the run resumed"), ""),
    "tool.started": (gettext_noop("{who} started the tool"), ""),
    "tool.settled": (gettext_noop("{who} returned the result"), ""),
    "tool.refused": (gettext_noop("{who} tried to start the tool (refused)"), ""),
    "tool.in_doubt": (gettext_noop("{who} got no report of the outcome"), ""),
    "tool.reported_late": (gettext_noop("{who} reported the outcome too late"), ""),
    "tool.lapsed": (
        gettext_noop("{who} ended the approval before the start"),
        gettext_noop("You revoked the approval before the start"),
    ),
    "tool.deviated": (
        gettext_noop("{who} executed other arguments than the approved ones"),
        "",
    ),
    "request.asked": (gettext_noop("{who} asked for approval"), gettext_noop("You asked")),
    "request.attached": (
        gettext_noop("{who} asked for the same call again"),
        gettext_noop("You asked for the same call again"),
    ),
    "request.withdrawn": (
        gettext_noop("{who} withdrew the request"),
        gettext_noop("You withdrew the request"),
    ),
    "thread.deleted": (
        gettext_noop("{who} deleted the thread because of its age"),
        gettext_noop("You deleted the thread because of its age"),
    ),
    "thread.kept": (
        gettext_noop("{who} keeps the thread whatever its age"),
        gettext_noop("You keep the thread whatever its age"),
    ),
    "thread.released": (
        gettext_noop("{who} keeps the thread no longer"),
        gettext_noop("You keep the thread no longer"),
    ),
    "audit.erased": (
        gettext_noop("{who} erased names and texts"),
        gettext_noop("You erased names and texts"),
    ),
    "audit.exported": (gettext_noop("{who} exported this"), gettext_noop("You exported this")),
    "audit.revealed": (
        gettext_noop("{who} revealed masked values"),
        gettext_noop("You revealed masked values"),
    ),
}
#: Sentences of rejected actions by the entry's `tried`; without it, an answer.
_REJECTED_ACTIONS = {
    "withdraw": (
        gettext_noop("{who} tried to withdraw an answer (refused)"),
        gettext_noop("You tried to withdraw an answer (refused)"),
    ),
    "claim": (
        gettext_noop("{who} tried to claim this (refused)"),
        gettext_noop("You tried to claim this (refused)"),
    ),
    "retry": (
        gettext_noop("{who} tried to retry the run (refused)"),
        gettext_noop("You tried to retry the run (refused)"),
    ),
    "cancel": (
        gettext_noop("{who} tried to cancel the run (refused)"),
        gettext_noop("You tried to cancel the run (refused)"),
    ),
}
_APPROVED = (gettext_noop("{who} approved"), gettext_noop("You approved"))
_APPROVED_WITH_CHANGES = (
    gettext_noop("{who} approved with changes"),
    gettext_noop("You approved with changes"),
)
_APPROVED_UNSEEN = (
    gettext_noop("{who} approved without seeing the masked values"),
    gettext_noop("You approved without seeing the masked values"),
)
_APPROVED_BY_LINK = (
    gettext_noop("{who} approved by the link of a mail"),
    gettext_noop("You approved by the link of a mail"),
)
_REJECTED_BY_LINK = (
    gettext_noop("{who} rejected by the link of a mail"),
    gettext_noop("You rejected by the link of a mail"),
)
_SENT_BACK = (
    gettext_noop("{who} sent this back to the agent"),
    gettext_noop("You sent this back to the agent"),
)
_REJECTED = (gettext_noop("{who} rejected"), gettext_noop("You rejected"))
_BY_AGENT = {"run.interrupted", "run.succeeded", "run.failed"}


@dataclass(frozen=True)
class ActivityLine:
    sentence: str  #: HTML
    note: str  #: the reviewer's reason
    at: datetime
    initials: str  #: "" for agents and machines, which have an icon
    hue: int


def activity_lines(
    entries: Iterable[AuditEntry],
    *,
    agent: str,
    me: int | None,
    secrets: Secrets | None = None,
    amount_of: Callable[[Any], str] = lambda answer: "",
) -> list[ActivityLine]:
    """
    Return the entries as sentences; an agent's actions have the agent's name.

    The answers of several people are part of them if `secrets` says what to mask. `amount_of`
    returns the amount that an answer has changed.
    """
    return [_line(entry, agent, me, secrets, amount_of) for entry in entries]


def _line(
    entry: AuditEntry,
    agent: str,
    me: int | None,
    secrets: Secrets | None,
    amount_of: Callable[[Any], str],
) -> ActivityLine:
    record = entry.content
    payload = record["detail"].get("payload")
    answer = payload if isinstance(payload, dict) else {}
    is_person = entry.actor_kind == ActorKind.HUMAN
    is_me = is_person and me is not None and entry.actor_id == str(me)
    name = record["actor"] or gettext("Erased user")
    if name == POLICY.label and entry.actor_kind == ActorKind.SYSTEM:
        name = gettext("The policy")
    is_agent = entry.action in _BY_AGENT or entry.actor_kind == ActorKind.AGENT
    who = agent if is_agent else name
    reason = feedback_of(answer) or answer.get("reason")
    endorsed = amount = ""
    if entry.action == "interrupt.endorsed" and secrets is not None:
        endorsed, amount = _answer_text(secrets.masked(payload)), amount_of(payload)
    return ActivityLine(
        sentence=_sentence(
            entry.action,
            record["detail"],
            who=who,
            is_me=is_me,
            endorsed=endorsed,
            amount=amount,
        ),
        note=escape_invisible(reason) if isinstance(reason, str) else "",
        at=entry.at,
        initials=initials(name) if is_person else "",
        hue=avatar_colour(int(entry.actor_id)) if is_person and entry.actor_id.isdigit() else 1,
    )


_ENDORSED_ANSWER = (
    gettext_noop("{who} answered \u201c{answer}\u201d as one of several"),
    gettext_noop("You answered \u201c{answer}\u201d as one of several"),
)


_ENDORSED_AMOUNT = (
    gettext_noop("{who} approved {amount} as one of several"),
    gettext_noop("You approved {amount} as one of several"),
)


def _sentence(
    action: str, detail: dict[str, Any], *, who: str, is_me: bool, endorsed: str, amount: str
) -> str:
    by_others, by_me = _ENDORSED_ANSWER if endorsed else _pair(action, detail)
    if amount:
        by_others, by_me = _ENDORSED_AMOUNT
    # The pattern is trusted markup; the name is escaped.
    return format_html(
        gettext(by_me if is_me and by_me else by_others),
        who=format_html("<strong><bdi>{}</bdi></strong>", who),
        answer=format_html("<bdi>{}</bdi>", endorsed),
        amount=format_html('<ins class="new-value">{}</ins>', amount),
        to=format_html("<bdi>{}</bdi>", escape_invisible(str(detail.get("to", "")))),
    )


def _answer_text(answer: Any) -> str:
    """Return the answer of one of several people, "" for an approval and for an erased one."""
    if answer is None:
        return ""
    if isinstance(answer, bool):
        return gettext("Yes") if answer else gettext("No")
    return escape_invisible(answer_text(answer))


def _pair(action: str, detail: dict[str, Any]) -> tuple[str, str]:
    payload = detail.get("payload")
    answer = payload if isinstance(payload, dict) else {}
    if detail.get("tried") in _REJECTED_ACTIONS:
        return _REJECTED_ACTIONS[detail["tried"]]
    if action == "interrupt.resolved" and isinstance(answer.get("approved"), bool):
        is_link = detail.get("entrance") == Entrance.LINK
        return (
            _approved(answer, detail, is_link) if answer["approved"] else _denied(answer, is_link)
        )
    return _SENTENCES.get(action, ("{who} " + action.replace(".", " "), ""))


def _approved(answer: dict[str, Any], detail: dict[str, Any], is_link: bool) -> tuple[str, str]:
    if is_link:
        return _APPROVED_BY_LINK
    if detail.get("unseen"):
        return _APPROVED_UNSEEN
    return _APPROVED_WITH_CHANGES if "editedArgs" in answer else _APPROVED


def _denied(answer: dict[str, Any], is_link: bool) -> tuple[str, str]:
    if feedback_of(answer):
        return _SENT_BACK
    return _REJECTED_BY_LINK if is_link else _REJECTED
