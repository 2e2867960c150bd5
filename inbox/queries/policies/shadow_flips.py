"""The past requests that the shadow rules of a team's policy would have changed."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from inbox.models import Team
from inbox.queries.policies.backtests import backtest_slot, require_drafting
from inbox.queries.policies.past_requests import past_requests
from inbox.queries.policies.policies import published_version
from inbox.rules.people.access import Actor
from inbox.rules.policies.backtest import CONTRADICTIONS, PastOutcome
from inbox.rules.policies.language.policy import Effect, Mode, Rule

#: Flips that are listed for each rule; all are counted.
MAX_FLIPS = 50


@dataclass(frozen=True)
class ShadowFlip:
    """A request that a shadow rule would have changed, had it been in force."""

    request: str
    tool: str
    at: datetime
    ruled: Effect  #: the effect of the policy
    effect: Effect  #: the effect with the rule
    stricter: bool  #: the same effect with another requirement
    outcome: PastOutcome

    @property
    def is_contradiction(self) -> bool:
        """True if people decided differently from the rule."""
        return (self.effect, self.outcome) in CONTRADICTIONS


@dataclass
class ShadowRule:
    """A shadow rule of the version in force, with the latest flips first."""

    rule: Rule
    requests: int = 0  #: that this rule was evaluated for
    changed: int = 0
    contradictions: int = 0
    outcomes: Counter[tuple[Effect, PastOutcome]] = field(default_factory=Counter)
    flips: list[ShadowFlip] = field(default_factory=list)

    def add(self, flip: ShadowFlip) -> None:
        self.changed += 1
        self.contradictions += flip.is_contradiction
        self.outcomes[flip.effect, flip.outcome] += 1
        if len(self.flips) < MAX_FLIPS:
            self.flips.append(flip)


def shadow_flips(actor: Actor, team: Team, *, requests: int) -> list[ShadowRule]:
    """
    Return what the shadow rules in force would have changed among the team's last requests.

    Reads the stored rulings. Those of an earlier version count if it had the same rule.

    Raises:
        NotFound, Forbidden.
        RateLimited: this process already runs a backtest.
    """
    require_drafting(actor, team.pk)
    results = [ShadowRule(rule) for rule in _shadow_rules(team.policy_version_id).values()]
    if not results:
        return []
    with backtest_slot():
        for request, stored in past_requests(team, requests):
            if stored is None:
                continue
            rules = _shadow_rules(stored.version_id)
            changes = {change["rule"]: change for change in stored.body["shadow"]}
            for result in results:
                if rules.get(result.rule.id) != result.rule:
                    continue
                result.requests += 1
                change = changes.get(result.rule.id)
                if change is not None and not change["installation"]:
                    result.add(
                        ShadowFlip(
                            request.id,
                            request.facts.tool or "",
                            request.at,
                            Effect(stored.body["effect"]),
                            Effect(change["effect"]),
                            change["stricter"],
                            request.outcome,
                        )
                    )
    return results


def _shadow_rules(version_id: UUID | None) -> dict[str, Rule]:
    policy = published_version(version_id)[1].policy if version_id else None
    rules = policy.rules if policy else ()
    return {rule.id: rule for rule in rules if rule.mode is Mode.SHADOW}
