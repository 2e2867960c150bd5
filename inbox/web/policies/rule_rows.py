"""Rules as rows of a list: the sentence, its tags, and what it did in the last 30 days."""

import re
from collections.abc import Collection
from typing import Any

from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop

from inbox.queries.policies.history.last_month import LastMonth
from inbox.queries.policies.policies import parse_stored_policy
from inbox.rules.policies.language.policy import Effect, Mode, Rule
from inbox.rules.policies.language.sentences import effect_sentence, requirement_sentences
from inbox.rules.policies.past_calls import CallEnd, RuleFigures, percentages
from inbox.web.base.charts import FEWEST
from inbox.web.base.translate import translate

_ICONS = {Effect.ALLOW: "play", Effect.ASK: "user-check", Effect.DENY: "ban"}
_SERIES = {Effect.ALLOW: "rule", Effect.ASK: "expired", Effect.DENY: "denied"}
_DID = {
    Effect.ALLOW: gettext_noop("{number} ran"),
    Effect.ASK: gettext_noop("{number} asked"),
    Effect.GRANT: gettext_noop("{number} by grant"),
    Effect.DENY: gettext_noop("{number} denied"),
}
_WOULD_DO = {
    Effect.ALLOW: gettext_noop("would run {number}"),
    Effect.ASK: gettext_noop("would ask {number}"),
    Effect.GRANT: gettext_noop("would leave {number} to grants"),
    Effect.DENY: gettext_noop("would deny {number}"),
}
_ENDS = {
    CallEnd.RULE: gettext_noop("ran by rule"),
    CallEnd.APPROVED: gettext_noop("approved"),
    CallEnd.EDITED: gettext_noop("approved with changes"),
    CallEnd.REJECTED: gettext_noop("rejected"),
    CallEnd.EXPIRED: gettext_noop("expired"),
    CallEnd.DENIED: gettext_noop("denied by rule"),
}
_MARKED = re.compile("\x02(.*?)\x03", re.DOTALL)


def rules_of(body: str) -> list[dict[str, Any]]:
    """Return the rules of a stored policy as rows; none if it cannot be read."""
    policy = parse_stored_policy(body)
    return [rule_row(rule) for rule in policy.rules] if policy else []


def rule_row(
    rule: Rule, month: LastMonth | None = None, drafted: Collection[str] = ()
) -> dict[str, Any]:
    """Return a rule as a row; `drafted` are the ids of rules that the draft adds or changes."""
    is_shadow = rule.mode is Mode.SHADOW
    figures = (month.shadow if is_shadow else month.rules).get(rule.id) if month else None
    return {
        "id": rule.id,
        "title": rule.title,
        "sentence": sentence_parts(rule),
        "requirements": " ".join(requirement_sentences(rule.require, translate)),
        "icon": _ICONS[rule.effect],
        "is_shadow": is_shadow,
        "is_off": rule.mode is Mode.OFF,
        "is_drafted": rule.id in drafted,
        "did": _did(figures or RuleFigures(), is_shadow=is_shadow) if month else None,
        "spark": _spark(figures),
        "series": _SERIES[rule.effect],
    }


def everything_else(month: LastMonth) -> dict[str, Any]:
    """Return the row of the calls that no rule decided."""
    figures = month.without_rule
    return {"did": _did(figures, is_shadow=False), "spark": _spark(figures), "series": "expired"}


def sentence_parts(rule: Rule) -> list[tuple[str, bool]]:
    """Return the sentence of a rule in parts, each with whether it can be chosen."""
    # The characters cannot be in the names of a policy, which has no control characters.
    sentence = effect_sentence(rule, translate, lambda text: f"\x02{text}\x03")
    parts = enumerate(_MARKED.split(sentence))
    return [(text, number % 2 == 1) for number, text in parts if text]


def _did(figures: RuleFigures, *, is_shadow: bool) -> list[tuple[str, bool]]:
    """Return what a rule did in parts, each with whether people decided against it."""
    words = _WOULD_DO if is_shadow else _DID
    parts = [
        (_counted(words[effect], number), False)
        for effect, number in figures.by_effect.items()
        if number
    ]
    if figures.rejected and not is_shadow:
        parts.append((_counted(gettext_noop("{number} rejected"), figures.rejected), False))
    if figures.contradictions:
        against = gettext_noop("{number} against people")
        parts.append((_counted(against, figures.contradictions), True))
    return parts or [(gettext("no call"), False)]


def _counted(words: str, number: int) -> str:
    """Return words with a number that stands out."""
    return format_html(gettext(words), number=format_html("<b>{}</b>", number))


def _spark(figures: RuleFigures | None) -> str:
    """Return columns of 30 days as a path in a box of 120 by 24; "" for too few calls."""
    if figures is None or figures.total < FEWEST:
        return ""
    top = max(figures.by_day)
    heights = [round(22 * number / top, 1) if number else 0 for number in figures.by_day]
    return "".join(
        f"M{4 * day} 24v-{max(height, 2)}h3v{max(height, 2)}z"
        for day, height in enumerate(heights)
        if height
    )


def share_bar(month: LastMonth) -> dict[str, Any]:
    """Return the bar of the calls by what happened, which has no parts without a decided call."""
    decided = sum(month.ends.values())
    percents = percentages({end: month.ends[end] for end in CallEnd if month.ends[end]})
    parts, left = [], 0.0
    for end, percent in percents.items():
        width = 1000 * month.ends[end] / decided
        parts.append(
            {
                "series": end.value,
                "name": _end_name(end, month),
                "count": month.ends[end],
                "percent": percent,
                "x": f"{left:.1f}",
                "width": f"{max(3.0, width - 2):.1f}",
            }
        )
        left += width
    return {
        "parts": parts,
        "decided": decided,
        "waiting": month.waiting,
        "others": month.total - decided - month.waiting,
        "is_cut": month.is_cut,
        "is_charted": decided >= FEWEST,
    }


def _end_name(end: CallEnd, month: LastMonth) -> str:
    if end is CallEnd.RULE and month.by_grant:
        return gettext("ran by rule or grant")
    return gettext(_ENDS[end])
