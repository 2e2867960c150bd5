"""The differences of a draft to the policy in force, and the warnings about rules."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext

from inbox.queries.policies.policies import parse_stored_policy
from inbox.rules.decisions.value_diff import Piece, word_pieces
from inbox.rules.policies.implication import KnownNames, warning_message, warnings
from inbox.rules.policies.language.changes import have_calendars_changed, rule_changes
from inbox.rules.policies.language.policy import Policy
from inbox.rules.policies.language.sentences import rule_sentence
from inbox.web.base.translate import translate


def warning_texts(body: str, names: KnownNames) -> list[str]:
    """Return the warnings about a stored policy as sentences; none if it cannot be read."""
    policy = parse_stored_policy(body)
    if policy is None:
        return []
    return [translate(warning_message(item, policy)) for item in warnings(policy, names)]


#: A change in more places is not said in one line.
_PIECES_IN_A_LINE = 4


def change_rows(before: Policy, after: Policy) -> list[dict[str, Any]]:
    """Return the differences of two policies as sentences."""
    rows: list[dict[str, Any]] = []
    for change in rule_changes(before, after):
        rule = change.after or change.before
        kind = gettext("Changed") if change.before else gettext("Added")
        rows.append(
            {
                "kind": kind if change.after else gettext("Removed"),
                "title": rule.title if rule else "",
                "before": rule_sentence(change.before, translate) if change.before else "",
                "after": rule_sentence(change.after, translate) if change.after else "",
            }
        )
        rows[-1]["pieces"] = _changed_pieces(rows[-1]["before"], rows[-1]["after"])
    if have_calendars_changed(before, after):
        rows.append(
            {
                "kind": gettext("Changed"),
                "title": gettext("Calendars"),
                "before": "",
                "after": "",
                "pieces": (),
            }
        )
    return rows


def _changed_pieces(before: str, after: str) -> Sequence[Piece]:
    """Return the words that differ, if they are few."""
    pieces = (
        [piece for piece in word_pieces(before, after) if piece.tag] if before and after else []
    )
    return pieces if len(pieces) <= _PIECES_IN_A_LINE else ()
