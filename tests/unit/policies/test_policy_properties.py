"""Random policies against an oracle; `make test-all` takes four times as many examples."""

import json
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.policies.evaluation import (
    MAX_REASON_BYTES,
    VersionedPolicy,
    evaluate,
    ruling_from_json,
)
from inbox.rules.policies.facts import facts_from_json
from inbox.rules.policies.language.document import parse_policy
from inbox.rules.policies.language.policy import canonical_body
from tests.support.environment import IS_FULL
from tests.support.policies import generator, oracle
from tests.support.policies.documents import NOW, problems
from tests.support.properties.json_values import generated, values

DOCUMENTS, SUBJECTS = (50, 10) if IS_FULL else (10, 10)
ABSENCES = [None, "40", True, [], {}, [40], {"amount": 40}, "forty", False, ""]


def policies(random):
    """Return the documents of a team, and sometimes of the installation, with their policies."""
    bodies = [(generator.document(random), False)]
    if random.random() < 0.3:
        bodies.append((generator.document(random, effects=["ask", "deny"]), True))
    parsed = []
    for number, (body, installation) in enumerate(bodies):
        repair(body)
        policy = parse_policy(body, installation=installation)
        parsed.append(VersionedPolicy(number, policy, installation))
    return bodies, parsed


def repair(body):
    """Remove what the language forbids: conditions without a list, and slots beside a grant."""
    for rule in body["rules"]:
        for name in ("when", "unless"):
            for condition in rule.get(name, []):
                if condition["path"] == "/requester/groups":
                    condition.setdefault("each", "any")


def summary(ruling):
    summary = {"effect": ruling.effect.value, "rules": set(ruling.rules)}
    if ruling.effect == "ask":
        requirement = ruling.requirement
        summary |= {
            "slots": oracle.Counter(slot.slot.key for slot in requirement.slots),
            "self_approval": requirement.self_approval or False,
            "fresh": requirement.fresh_sign_in_minutes,
            "keys": requirement.keys,
            "via": None if requirement.via is None else {way.value for way in requirement.via},
            "expires_at": requirement.expires_at,
            "on_expiry": requirement.on_expiry.value,
            "grantable": ruling.grantable,
        }
    return summary


@generated(200)  # of 500 pairs each, in full
@given(st.integers(0, 2**32))
def test_rulings_are_those_of_the_oracle(seed):
    random = Random(seed)
    for _ in range(DOCUMENTS):
        bodies, parsed = policies(random)
        for _ in range(SUBJECTS):
            subject = generator.subject(random)

            ruling = evaluate(parsed, facts_from_json(subject), NOW)

            assert summary(ruling) == oracle.rule_on(bodies, subject, NOW), (bodies, subject)


@generated(100)
@given(st.integers(0, 2**32))
def test_the_order_of_rules_and_conditions_does_not_matter(seed):
    random = Random(seed)
    for _ in range(10):
        bodies, parsed = policies(random)
        for body, _ in bodies:
            random.shuffle(body["rules"])
        other = [
            VersionedPolicy(version.number, parse_policy(body), version.installation)
            for (body, _), version in zip(bodies, parsed, strict=True)
        ]
        random.shuffle(other)
        facts = facts_from_json(generator.subject(random))

        assert evaluate(other, facts, NOW) == evaluate(parsed, facts, NOW)


@generated(100)
@given(st.integers(0, 2**32))
def test_no_rule_allows_on_a_missing_or_mistyped_fact(seed):
    random = Random(seed)
    for _ in range(100):
        condition = {"path": "/args/amount", "op": random.choice(["lt", "lte", "gt", "gte"])}
        condition["value"] = random.choice([-1, 0, 10, 49.99, 1e300])
        if random.random() < 0.5:
            condition = {"path": "/args/amount", "op": "between", "value": [-1e300, 1e300]}
        body = {"rules": [{"id": "small", "effect": "allow", "when": [condition]}]}
        if random.random() < 0.5:
            condition["not"] = True
        args = {} if random.random() < 0.2 else {"amount": random.choice(ABSENCES)}
        facts = facts_from_json({"reason": "tool_call", "tool": "refund", "args": args})

        ruling = evaluate([VersionedPolicy(1, parse_policy(body))], facts, NOW)

        assert ruling.effect == "ask"


@generated(100)
@given(st.integers(0, 2**32))
def test_stored_rulings_and_facts_replay_to_equal_ones(seed):
    random = Random(seed)
    for _ in range(10):
        _, parsed = policies(random)
        facts = facts_from_json(generator.subject(random))
        ruling = evaluate(parsed, facts, NOW)

        stored = json.loads(canonical_json([facts.to_json(), ruling.to_json()]))

        assert ruling_from_json(stored[1]).to_json() == ruling.to_json()
        assert evaluate(parsed, facts_from_json(stored[0]), NOW).to_json() == ruling.to_json()
        assert len(canonical_json(ruling.reasons_json()).encode()) <= MAX_REASON_BYTES


@generated(400)
@given(st.integers(0, 2**32), values, st.integers(0, 20))
def test_any_change_of_a_document_is_a_policy_or_is_refused(seed, value, place):
    body = generator.document(Random(seed))
    spots = [(body, "rules"), (body, "calendars"), (body, "x")]
    for rule in body["rules"]:
        spots += [(rule, name) for name in ("id", "name", "effect", "mode", "when", "require")]
        spots += [(condition, name) for condition in rule["when"] for name in ("path", "value")]
    parent, name = spots[place % len(spots)]
    parent[name] = value

    if not problems(body):
        policy = parse_policy(body)
        assert parse_policy(json.loads(canonical_body(policy))) == policy


@generated(400)
@given(values, values)
def test_facts_of_any_shape_are_evaluated(args, value):
    body = {"rules": [{"id": "any", "effect": "allow", "when": [], "unless": []}]}
    for op in ("lte", "is", "matches", "domain_is", "longest", "present"):
        operand = {"lte": 1, "matches": "*a*", "domain_is": "example.org", "longest": 3}.get(op)
        condition = {"path": "/args/a", "op": op, "value": operand or True}
        body["rules"][0]["when"] = [condition]
        facts = facts_from_json({"reason": "tool_call", "tool": "t", "args": args})

        ruling = evaluate([VersionedPolicy(1, parse_policy(body))], facts, NOW)

        assert ruling.effect in ("allow", "ask")
