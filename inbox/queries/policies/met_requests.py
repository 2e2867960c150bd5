"""The past requests that one rule would have met."""

from dataclasses import dataclass

from inbox.models import Team
from inbox.queries.policies.backtests import require_drafting
from inbox.queries.policies.past_requests import past_requests
from inbox.rules.people.access import Actor
from inbox.rules.policies.evaluation import rule_truth
from inbox.rules.policies.facts import FactReader
from inbox.rules.policies.language.policy import Effect, Policy, Rule
from inbox.rules.policies.operators import Truth

#: Requests that are read for one rule while it is written.
MOST_READ = 200


@dataclass(frozen=True)
class MetRequests:
    """The numbers of past requests: read, those that a rule is about, and questions among those."""

    total: int
    matching: int
    questions: int


def met_requests(actor: Actor, team: Team, policy: Policy, rule: Rule) -> MetRequests:
    """
    Return how many of the last requests a rule would have met; a doubtful one asks, too.

    Raises:
        NotFound, Forbidden.
    """
    require_drafting(actor, team.pk)
    meeting = {Truth.YES} if rule.effect is Effect.ALLOW else {Truth.YES, Truth.UNKNOWN}
    readers = [FactReader(request.facts) for request, _ in past_requests(team, MOST_READ)]
    matching = [reader for reader in readers if rule_truth(rule, policy, reader) in meeting]
    questions = sum(not reader.names_call for reader in matching)
    return MetRequests(len(readers), len(matching), questions)
