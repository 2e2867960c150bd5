"""The sentences that hosts and their models read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from signoff_client.hooks.events import Decision, changed_members

NO_OTHER_WAY: Final = "Do not try another way."
CHECKED: Final = "This call was made by `signoff hooks check`. The hook works, and nothing runs."
TOO_LARGE: Final = "A request has up to 256 KiB: write large files in several smaller calls."
LONE_SURROGATE: Final = (
    "its arguments have half of a UTF-16 surrogate pair, which is no text. Remove that character."
)


def approved(decision: Decision) -> str:
    """Return who approved, and when and where, or that there are changes."""
    who = decision.decider or "a policy"
    if decision.edited:
        return f"Approved with changes by {who} in Signoff"
    at = f" at {decision.local_time}" if decision.at else ""
    return f"Approved by {who} in Signoff{at} ({decision.url})"


def changed(decision: Decision, args: Mapping[str, Any]) -> str:
    """Tell the model that other arguments run than it sent."""
    names = changed_members(args, decision.args)
    return (
        f"A reviewer changed the arguments of this call before it ran: {', '.join(names)}. "
        "Do not issue the original call again."
    )


def denied(decision: Decision) -> str:
    reason = sentence(decision.reason)
    return f"Denied by {decision.decider or 'a policy'} in Signoff" + (
        f": {reason}" if reason else "."
    )


def sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text[-1] in ".!?" else f"{text}."


def pending(url: str) -> str:
    return (
        f"Nobody has answered yet: {url} is still open. This is no denial by a person. "
        "Issue the same call again later; it attaches to this request."
    )


def unanswered_question() -> str:
    return (
        "Nobody has answered, and the question was withdrawn. This is no denial by a person. "
        "Ask again later."
    )


def unavailable(problem: str) -> str:
    return (
        f"This call was not approved, because Signoff cannot be asked: {sentence(problem)} "
        "This is no denial by a person. Issue the same call again later."
    )


def unacceptable(problem: str) -> str:
    """Refuse what can never be asked about: the same call again would loop."""
    return (
        f"This call cannot be approved as it is: {sentence(problem)} "
        "This is no denial by a person. Do not repeat this call; change it first."
    )


def ended(text: str) -> str:
    return f"{sentence(text)} This is no denial by a person. Issue the same call again to ask anew."


def edit_refused(problem: str) -> str:
    return f"A reviewer changed this call in a way that cannot be carried out: {sentence(problem)}"
