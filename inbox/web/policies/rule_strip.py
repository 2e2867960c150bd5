"""The strip of a rule: the matching calls of the last 30 days, and what the rule would do."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop

from inbox.platform import clock
from inbox.queries.policies.history.rule_impact import decided_titles, rule_impact
from inbox.rules.people.access import Actor
from inbox.rules.policies.backtest import PastOutcome
from inbox.rules.policies.impact import MetCall, RuleImpact, limit_of, limit_value
from inbox.rules.policies.language.policy import Effect, Op, Policy, Rule
from inbox.rules.policies.past_calls import DAYS, CallEnd, call_end
from inbox.web.base.charts import FEWEST, HEIGHT, WIDTH, Axis, Dot, Point, dot_chart
from inbox.web.base.zones import local
from inbox.web.policies.backtest_page import OUTCOMES

if TYPE_CHECKING:
    from inbox.models import Team

#: Dots that are drawn, and contradictions that are listed.
MOST_DOTS, MOST_LISTED = 400, 10
#: The length of an axis from which a limit that is dragged is a whole number.
WHOLE_FROM = 20
#: The plot inside of the picture, which has room for labels at the left and below.
_LEFT, _TOP, _WIDTH, _HEIGHT = 48, 8, 732, 260
#: Room for the mark of a call at an edge: the first one, the greatest amount, and one of now, which
#: must not be under the handle of the limit.
_MARGIN, _MARGIN_OF_NOW = 14, 30
#: A plot of calls that are younger begins with the first one, but is not shorter.
_SHORTEST = timedelta(days=7)
_WOULD = {
    Effect.ALLOW: gettext_noop("would run"),
    Effect.ASK: gettext_noop("would ask people"),
    Effect.DENY: gettext_noop("would be denied"),
    None: gettext_noop("as before"),
}
_MARKS = {
    "rule": ("f-rule", "M{x} {y}m-4-4h8v8h-8z"),
    "approved": ("f-approved", "M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0"),
    "edited": ("f-edited", "M{x} {y}m0-6l6 6-6 6-6-6z"),
    "rejected": ("s-rejected", "M{x} {y}m-5-5l10 10m0-10l-10 10"),
    "expired": ("s-expired", "M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0"),
    "waiting": ("f-waiting", "M{x} {y}m0-5l5 9h-10z"),
}


def strip_of(
    actor: Actor, team: Team, policy: Policy, rule: Rule, *, limit_field: str = ""
) -> dict[str, Any]:
    """
    Return the strip; `policy` is the draft, whose other rules take part.

    `limit_field` is the field of the form that has the limit, "" if it is in none.
    """
    impact = rule_impact(actor, team, policy, rule)
    contradictions = impact.contradictions
    listed = contradictions[:MOST_LISTED]
    titles = decided_titles(actor, team.pk, [call.id for call in listed])
    plot = _plot(impact, rule, limit_field)
    return {
        "total": len(impact.calls),
        "read": impact.read,
        "is_cut": impact.is_cut,
        "counts": [
            (gettext(words), impact.effects[effect], effect is None)
            for effect, words in _WOULD.items()
            if impact.effects[effect]
        ],
        "against": len(contradictions),
        "more": len(contradictions) - len(listed),
        "contradictions": [
            {
                "url": reverse("interrupt", args=[call.id]),
                "title": titles.get(call.id, ("", ""))[0],
                "by": titles.get(call.id, ("", ""))[1],
                "at": call.at,
                "outcome": gettext(OUTCOMES[call.outcome]),
            }
            for call in listed
        ],
        "table": _table(impact),
        "effects": [gettext(words) for words in _WOULD.values()],
        "plot": plot,
        "limits": {limit_field: _limits(plot, impact)} if plot and limit_field else {},
    }


def _table(impact: RuleImpact) -> list[tuple[str, list[int]]]:
    """Return the numbers of calls by what happened and what the rule would do."""
    cells = Counter((call.outcome, call.effect) for call in impact.calls)
    return [
        (gettext(words), numbers)
        for outcome, words in OUTCOMES.items()
        if any(numbers := [cells[outcome, effect] for effect in _WOULD])
    ]


def _plot(impact: RuleImpact, rule: Rule, limit_field: str) -> dict[str, Any] | None:
    """Return the dots by time and amount; None without a limit, or with too few amounts."""
    limit = limit_of(rule)
    drawn = [call for call in impact.calls if call.amount is not None][:MOST_DOTS]
    if limit is None or len(drawn) < FEWEST:
        return None
    calls = {call.id: call for call in drawn}
    end = clock.now()
    first = min(call.at for call in drawn)
    begin = max(end - timedelta(days=DAYS), min(first, end - _SHORTEST))
    points = [Point(call.at, call.amount or 0, _series_of(call), call.id) for call in drawn]
    chart = dot_chart(points, begin=begin, end=end)
    line = _y(chart.amounts.y(limit_value(limit)))
    applies_above = limit.op in (Op.GT, Op.GTE)
    return {
        "dots": [_dot(item, calls[item.point.url]) for item in chart.dots],
        "ticks": [(f"{_y(y):.1f}", _number(value)) for y, value in chart.amounts.ticks],
        "marks": [(f"{value:.12g}", value) for _, value in chart.amounts.ticks],
        "days": [
            (_x(share), date_format(local(begin + (end - begin) * share), gettext("j M")), anchor)
            for share, anchor in ((0, "start"), (1 / 3, "middle"), (2 / 3, "middle"), (1, "end"))
        ],
        "line": f"{line:.1f}",
        "limit": _number(limit_value(limit)),
        "slider": _slider(chart.amounts, limit_value(limit), limit_field) if limit_field else None,
        "applies_above": applies_above,
        "above": gettext(_WOULD[rule.effect if applies_above else None]),
        "below": gettext(_WOULD[None if applies_above else rule.effect]),
        "zone": (f"{_TOP}", f"{line - _TOP:.1f}")
        if applies_above
        else (f"{line:.1f}", f"{_TOP + _HEIGHT - line:.1f}"),
        "is_partial": len(drawn) < len(impact.calls),
        "drawn": len(drawn),
    }


def _slider(axis: Axis, limit: float, limit_field: str) -> dict[str, Any]:
    """Return the range to drag; of a logarithmic axis it has the place in percent."""
    step = 1.0 if axis.is_logarithmic else _step(axis.high - axis.low)
    place = HEIGHT - float(axis.y(limit)) if axis.is_logarithmic else limit
    low, high = (0, HEIGHT) if axis.is_logarithmic else (axis.low, axis.high)
    return {
        "field": limit_field,
        "min": f"{low:.12g}",
        "max": f"{ceil(high / step) * step:.12g}",
        "step": f"{step:g}",
        "value": f"{place:.12g}",
        "low": repr(axis.low),
        "high": repr(axis.high),
        "is_logarithmic": axis.is_logarithmic,
        "top": _TOP + _MARGIN,
        "bottom": _TOP + _HEIGHT,
    }


def _step(length: float) -> float:
    """Return a round step of which 100 or more fit into a length; of long ones, a whole number."""
    power = 10.0 ** floor(log10(length / 100)) if length > 1e-300 else 1.0
    step = next(step for step in (5, 2, 1) if step * power * 100 <= length or step == 1) * power
    return max(step, 1.0) if length >= WHOLE_FROM else step


def _limits(plot: dict[str, Any], impact: RuleImpact) -> list[tuple[str, str]]:
    """Return round limits to choose, each with the number of calls that are up to it."""
    amounts = [call.amount for call in impact.calls if call.amount is not None]
    return [
        (name, gettext("{number} up to it").format(number=sum(at <= value for at in amounts)))
        for name, value in plot["marks"]
        if value > 0
    ]


def _series_of(call: MetCall) -> str:
    """Return the series of a call; one that was cancelled stands with the expired ones."""
    is_open = call.outcome is PastOutcome.OPEN
    return "waiting" if is_open else call_end(call.outcome, None) or CallEnd.EXPIRED


def _dot(dot: Dot, call: MetCall) -> dict[str, Any]:
    look, path = _MARKS[dot.point.series]
    place = {"x": _x(float(dot.x) / WIDTH), "y": f"{_y(dot.y):.1f}"}
    return {
        **place,
        "look": look,
        "path": path.format(**place),
        "url": reverse("interrupt", args=[call.id]),
        "name": f"{_number(call.amount or 0)}: {gettext(OUTCOMES[call.outcome])}",
        "is_contradiction": call.is_contradiction,
    }


def _x(share: float) -> str:
    return f"{_LEFT + _MARGIN + (_WIDTH - _MARGIN - _MARGIN_OF_NOW) * share:.1f}"


def _y(y: str) -> float:
    return _TOP + _MARGIN + (_HEIGHT - _MARGIN) * float(y) / HEIGHT


def _number(value: float) -> str:
    return f"{value:g}" if abs(value) < 1e6 else f"{value:,.0f}"
