"""The differences of a draft to the policy in force, and the warnings about rules."""

from django.utils.translation import gettext

from inbox.queries.policies.policies import parse_stored_policy
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


def change_rows(before: Policy, after: Policy) -> list[dict[str, str]]:
    """Return the differences of two policies as sentences."""
    rows = []
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
    if have_calendars_changed(before, after):
        rows.append(
            {"kind": gettext("Changed"), "title": gettext("Calendars"), "before": "", "after": ""}
        )
    return rows
