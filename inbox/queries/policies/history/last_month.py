"""The effect of a team's policy on the tool calls of the last 30 days."""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, FilteredRelation, Q
from django.db.models.lookups import IsNull

from inbox.models import Interrupt, Ruling
from inbox.platform import clock
from inbox.queries.people.access import require
from inbox.rules.audit.audit_filters import first_id_of, time_of_id
from inbox.rules.people.access import Actor, Permission
from inbox.rules.policies.backtest import CONTRADICTIONS, PastOutcome, past_outcome
from inbox.rules.policies.language.policy import Effect
from inbox.rules.policies.past_calls import DAYS, CallEnd, RuleFigures, call_end
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus, InterruptStatus

#: The latest calls that are counted.
MAX_CALLS = 10_000


@dataclass
class LastMonth:
    """The calls of the last 30 days, the latest MAX_CALLS at most."""

    total: int = 0
    ends: Counter[CallEnd] = field(default_factory=Counter)
    waiting: int = 0
    is_cut: bool = False  #: there were more calls
    by_grant: int = 0  #: of those that ran without asking
    rules: dict[str, RuleFigures] = field(default_factory=lambda: defaultdict(RuleFigures))
    shadow: dict[str, RuleFigures] = field(default_factory=lambda: defaultdict(RuleFigures))
    without_rule: RuleFigures = field(default_factory=RuleFigures)


@dataclass(frozen=True)
class PastCall:
    """A tool call that an agent asked about."""

    pk: UUID
    at: datetime
    outcome: PastOutcome
    by_grant: bool


def last_month(actor: Actor, team_id: UUID) -> LastMonth:
    """
    Return what happened to the calls of the last 30 days, and which rules decided them.

    Reads at most MAX_CALLS calls and the rulings on them. A rule counts in each version that had
    its id.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.READ)
    now = clock.now()
    calls = past_calls(team_id, now)
    month = LastMonth(is_cut=len(calls) > MAX_CALLS)
    calls = calls[:MAX_CALLS]
    rulings = _rulings(team_id, calls[-1].pk) if calls else {}
    for call in calls:
        effect, parts = rulings.get(call.pk, (None, _NO_PARTS))
        end = call_end(call.outcome, effect)
        month.total += 1
        month.waiting += call.outcome is PastOutcome.OPEN
        month.by_grant += call.by_grant
        if end:
            month.ends[end] += 1
        # Clocks of processes differ: a call may be of a moment after `now`.
        day = DAYS - 1 - min(DAYS - 1, max(0, (now - call.at).days))
        _add(month, call.outcome, effect or Effect.ASK, parts, day)
    return month


def past_calls(team_id: UUID, now: datetime) -> list[PastCall]:
    """Return the calls of the last 30 days, the latest first: MAX_CALLS + 1 at most."""
    since = now - timedelta(days=DAYS)
    rows = Interrupt.objects.filter(
        team=team_id, pk__gte=first_id_of(since.date()), tool_call__isnull=False
    ).annotate(
        in_force=FilteredRelation("decisions", condition=Q(decisions__withdrawn_at=None)),
        by_rule=IsNull(F("in_force__ruling"), rhs=False),
        by_grant=IsNull(F("in_force__grant"), rhs=False),
    )
    columns = ("pk", "status", "in_force__status", "in_force__payload", "by_rule", "by_grant")
    outcomes: dict[Any, PastOutcome] = {}  # most decisions are alike
    calls = []
    for pk, *decision, by_grant in rows.order_by("-pk").values_list(*columns)[: MAX_CALLS + 1]:
        key = (*decision, by_grant)
        if key not in outcomes:
            outcomes[key] = _outcome(*key)
        calls.append(PastCall(pk, time_of_id(pk), outcomes[key], by_grant))
    return [call for call in calls if call.at > since]


def _outcome(
    state: str, status: str | None, payload: str | None, by_rule: bool, by_grant: bool
) -> PastOutcome:
    entry = ResumeEntry("", EntryStatus(status), json.loads(payload or "null")) if status else None
    return past_outcome(InterruptStatus(state), entry, is_by_rule=by_rule or by_grant)


@dataclass(frozen=True)
class _Parts:
    """Of the body of a ruling: the rules that decided, and the effects of shadow rules."""

    rules: tuple[str, ...] = ()
    shadow: tuple[tuple[str, Effect], ...] = ()


_NO_PARTS = _Parts()


def _rulings(team_id: UUID, since: UUID) -> dict[UUID, tuple[Effect, _Parts]]:
    """Return the last ruling on each tool call of a team from this one on."""
    rows = Ruling.objects.filter(
        interrupt__team=team_id, interrupt__gte=since, interrupt__tool_call__isnull=False
    ).order_by("number")
    return {
        interrupt: (Effect(effect), _parts(body))
        for interrupt, effect, body in rows.values_list("interrupt_id", "effect", "body")
    }


def _parts(body: str) -> _Parts:
    stored: dict[str, Any] = json.loads(body)
    shadow = tuple(
        (change["rule"], Effect(change["effect"]))
        for change in stored["shadow"]
        if not change["installation"]
    )
    return _Parts(tuple(stored["rules"]), shadow)


def _add(month: LastMonth, outcome: PastOutcome, effect: Effect, parts: _Parts, day: int) -> None:
    deciding = [month.rules[rule] for rule in parts.rules] or [month.without_rule]
    for figures in deciding:
        figures.by_effect[effect] += 1
        figures.by_day[day] += 1
        figures.rejected += outcome is PastOutcome.REJECTED
    for rule, shadow_effect in parts.shadow:
        figures = month.shadow[rule]
        figures.by_effect[shadow_effect] += 1
        figures.by_day[day] += 1
        figures.contradictions += (shadow_effect, outcome) in CONTRADICTIONS
