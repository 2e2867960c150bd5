"""The effect that a rule of the draft would have had on the calls of the last 30 days."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models.functions import Length

from inbox.models import AuditEntry, Decision, Interrupt, Team
from inbox.platform import clock
from inbox.queries.policies.backtests import require_drafting
from inbox.queries.policies.history.last_month import MAX_CALLS, PastCall, past_calls
from inbox.queries.policies.past_requests import past_requests
from inbox.queries.policies.policies import installation_policies
from inbox.rules.people.access import Actor
from inbox.rules.policies.evaluation import strongest_effect
from inbox.rules.policies.facts import FactReader
from inbox.rules.policies.impact import ReadCall, RuleImpact, impact_of, others_than
from inbox.rules.policies.language.policy import Effect, Policy, Rule, canonical_body

#: Of the arguments of a call; those with longer ones are left out, as they stay in memory.
MAX_CALL_CHARACTERS = 4_000
#: The teams whose calls a process keeps in memory, for the next move of a limit.
_TEAMS_KEPT = 2
#: Entries of the audit trail may be numbered in another order than they are committed.
_FRESH = timedelta(seconds=10)
_BATCH = 200
#: So that the first evaluation takes about a second; the next one reads the next calls.
_READ_AT_ONCE = 2_000


@dataclass
class _Facts:
    """The facts of calls and the effects of the other rules, which do not depend on the rule."""

    #: None for a call with long arguments.
    readers: dict[UUID, FactReader | None] = field(default_factory=dict)
    effects: dict[UUID, Effect | None] = field(default_factory=dict)
    rows: Sequence[ReadCall] = ()
    is_cut: bool = False  #: there are calls that are not in `rows`
    others: str = ""  #: the canonical text of the policies that `effects` are of
    entry: int | None = None  #: of the audit trail, that `rows` are of
    read_at: datetime | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


_memories: OrderedDict[UUID, _Facts] = OrderedDict()
_kept_lock = threading.Lock()


def rule_impact(actor: Actor, team: Team, policy: Policy, rule: Rule) -> RuleImpact:
    """
    Return what a rule would have done with the calls of the last 30 days, beside the other rules.

    The rule is evaluated as if it were in force; `policy` is the draft, with its other rules. What
    does not depend on the rule is kept in memory, so that only the first evaluation is slow.

    Raises:
        NotFound, Forbidden.
    """
    require_drafting(actor, team.pk)
    installation = [item.policy for item in installation_policies(team) if item.policy]
    policies = [*installation, *others_than(rule.id, [policy])]
    memory, now = _facts_of(team.pk), clock.now()
    with memory.lock:
        others, entry = "\n".join(map(canonical_body, policies)), _last_entry(team.pk)
        is_fresh = memory.read_at is not None and now - memory.read_at < _FRESH
        if not is_fresh or (memory.others, memory.entry) != (others, entry):
            if memory.others != others:
                memory.others, memory.effects = others, {}
            is_complete = _read(memory, team, policies, now)
            memory.entry, memory.read_at = entry, now if is_complete else None
        return impact_of(rule, policy, memory.rows, is_cut=memory.is_cut)


def _last_entry(team_id: UUID) -> int | None:
    """Return the last entry of the audit trail that may change what happened to calls."""
    entries = AuditEntry.objects.filter(team=team_id).exclude(action__startswith="policy.")
    return entries.order_by("-pk").values_list("pk", flat=True).first()


def _facts_of(team_id: UUID) -> _Facts:
    with _kept_lock:
        memory = _memories.setdefault(team_id, _Facts())
        _memories.move_to_end(team_id)
        if len(_memories) > _TEAMS_KEPT:
            _memories.popitem(last=False)
        return memory


def _read(memory: _Facts, team: Team, policies: Sequence[Policy], now: datetime) -> bool:
    """Read the calls, with the facts of those that are not in memory; False if some are left."""
    calls = past_calls(team.pk, now)
    is_complete = _read_facts(memory, team, calls[:MAX_CALLS])
    rows = []
    for call in calls[:MAX_CALLS]:
        if (reader := memory.readers.get(call.pk)) is None:
            continue
        if call.pk not in memory.effects:
            memory.effects[call.pk] = strongest_effect(policies, reader)
        effect = memory.effects[call.pk]
        rows.append(ReadCall(str(call.pk), call.at, call.outcome, reader, effect))
    memory.rows, memory.is_cut = rows, len(rows) < len(calls)
    return is_complete


def _read_facts(memory: _Facts, team: Team, calls: Sequence[PastCall]) -> bool:
    """Read facts that are not in memory, of the latest calls first; False if some are left."""
    present = {call.pk for call in calls}
    memory.readers = {pk: reader for pk, reader in memory.readers.items() if pk in present}
    memory.effects = {pk: memory.effects[pk] for pk in memory.effects.keys() & present}
    unread = [call.pk for call in calls if call.pk not in memory.readers]
    missing = unread[:_READ_AT_ONCE]
    for batch in _batches(missing):
        rows = Interrupt.objects.filter(pk__in=batch).annotate(size=Length("args"))
        short = rows.filter(size__lte=MAX_CALL_CHARACTERS).values_list("pk", flat=True)
        requests = past_requests(team, len(batch), only=list(short))
        readers = {UUID(request.id): FactReader(request.facts) for request, _ in requests}
        memory.readers |= dict.fromkeys(batch) | readers
    return len(missing) == len(unread)


def _batches(ids: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    return (ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH))


def decided_titles(actor: Actor, team_id: UUID, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """
    Return the titles of requests of a team by id, and the people who decided them.

    Raises:
        NotFound, Forbidden.
    """
    require_drafting(actor, team_id)
    rows = Decision.objects.filter(
        interrupt__in=[UUID(pk) for pk in ids], interrupt__team=team_id, withdrawn_at=None
    ).values_list("interrupt_id", "interrupt__title", "actor_label")
    return {str(pk): (title, label) for pk, title, label in rows}
