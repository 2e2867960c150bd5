"""The differences of a draft to the policy in force, and the warnings about rules."""

from uuid import UUID

from django.utils.translation import gettext

from inbox.queries.policies.known_tools import known_tools
from inbox.queries.policies.policies import parse_stored_policy
from inbox.rules.policies.implication import RuleWarning, WarningCode, warnings
from inbox.rules.policies.language.changes import have_calendars_changed, rule_changes
from inbox.rules.policies.language.policy import Policy
from inbox.rules.policies.language.sentences import rule_sentence
from inbox.rules.text.messages import TranslatableMessage
from inbox.web.base.translate import translate


def warning_texts(team_id: UUID, body: str) -> list[str]:
    """Return the warnings about a stored policy as sentences; none if it cannot be read."""
    policy = parse_stored_policy(body)
    if policy is None:
        return []
    titles = {rule.id: rule.title for rule in policy.rules}
    tools = known_tools(team_id)
    return [translate(_warning(item, titles)) for item in warnings(policy, tools=tools)]


def change_rows(before: str, after: str) -> list[dict[str, str]]:
    """Return the differences of two stored policies as sentences; "" is no policy."""
    old = parse_stored_policy(before) or Policy()
    new = parse_stored_policy(after) or Policy()
    rows = []
    for change in rule_changes(old, new):
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
    if have_calendars_changed(old, new):
        rows.append(
            {"kind": gettext("Changed"), "title": gettext("Calendars"), "before": "", "after": ""}
        )
    return rows


def _warning(item: RuleWarning, titles: dict[str, str]) -> TranslatableMessage:
    rule, other = titles[item.rule], titles.get(item.detail, item.detail)
    match item.code:
        case WarningCode.NEVER:
            return TranslatableMessage("{rule} can never hold.", rule=rule)
        case WarningCode.UNKNOWN_TOOL:
            return TranslatableMessage(
                "{rule} names a tool that no agent of the team has called: {tool}.",
                rule=rule,
                tool=item.detail,
            )
        case WarningCode.SILENCES:
            return TranslatableMessage(
                "{rule} asks about every call, so no rule approves anything.", rule=rule
            )
    return TranslatableMessage("{rule} changes nothing beside {other}.", rule=rule, other=other)
