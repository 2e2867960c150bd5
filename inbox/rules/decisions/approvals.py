"""The interrupts that are tool calls, those that propose something, and answers that consent."""

import re
from collections.abc import Mapping
from typing import Any, Final

from inbox.rules.decisions.unseen import is_consent
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import Reason
from inbox.rules.schema.schemas import YES_NO_OR_TEXT, named_members

#: Members of an answer with which agents read a decision.
_DECISIONS: Final = (
    *("approved", "accepted", "confirmed", "allowed"),
    *("behavior", "decision", "action", "type", "answer", "response"),
)
#: Words that say yes at the beginning of a text, in the languages of the pages.
_BEGINNINGS: Final = frozenset(
    (
        *("yes", "y", "yep", "yeah", "true", "ok", "okay", "sure", "approved", "accepted"),
        *("allowed", "confirmed", "agreed", "ja", "jawohl", "einverstanden", "genehmigt"),
    )
)
#: With these and fillers only, a text says yes; in others, as in "Allow list", they may not.
_YES: Final = _BEGINNINGS | {
    *("approve", "accept", "allow", "confirm", "agree", "proceed", "continue", "go", "fine"),
    *("lgtm", "genehmige", "bestätige", "weiter", "los"),
}
_FILLERS: Final = frozenset(
    (
        *("please", "thanks", "thank", "you", "do", "it", "this", "that", "now", "ahead", "and"),
        *("of", "course", "by", "for", "with", "me", "i", "the", "is", "looks", "good", "to"),
        *("bitte", "danke", "das", "ist", "gut", "ich", "es", "geht"),
    )
)
_MAX_WORDS: Final = 200


def is_tool_call(*, reason: str, has_call: bool) -> bool:
    """Return whether an interrupt is about a tool call, for policies and people, by any reason."""
    return has_call and reason != Reason.OUTCOME_UNKNOWN


def takes_approval(*, reason: str, schema: Mapping[str, Any] | None) -> bool:
    """Return whether `approved` in the answer approves or denies."""
    return reason == Reason.TOOL_CALL or "approved" in named_members(schema)


def asks_consent(*, reason: str, schema: Mapping[str, Any] | None) -> bool:
    """Return whether an answer consents or denies, so that a denied call does not run."""
    return (
        takes_approval(reason=reason, schema=schema)
        or reason == Reason.CONFIRMATION
        or schema == YES_NO_OR_TEXT
    )


def is_proposal(*, reason: str, has_call: bool, schema: Mapping[str, Any] | None) -> bool:
    """Return whether each answer but a denial consents to something: no question for input does."""
    return is_tool_call(reason=reason, has_call=has_call) or asks_consent(
        reason=reason, schema=schema
    )


def approves(entry: ResumeEntry, *, is_proposal: bool) -> bool:
    """Return whether a decision consents to what is proposed, or says yes by itself."""
    return is_consent(entry) and (is_proposal or _says_yes(entry.payload))


def _says_yes(answer: Any) -> bool:
    if isinstance(answer, str):
        words = re.findall(r"\w+", answer.casefold())[:_MAX_WORDS]
        is_begun = bool(words) and words[0] in _BEGINNINGS
        return is_begun or (not _YES.isdisjoint(words) and _YES.union(_FILLERS).issuperset(words))
    if isinstance(answer, Mapping):
        # The person says that a call did not happen, so it runs again.
        is_repeated = answer.get("outcome") == "did_not_happen"
        return is_repeated or any(_says_yes(answer.get(name)) for name in _DECISIONS)
    if isinstance(answer, list):
        return any(map(_says_yes, answer))
    return answer is True
