"""Stored rulings are the same when they are evaluated again, and forged ones are found."""

import json
from random import Random

import pytest
from django.db import connection

from inbox.models import AuditPayload, Decision, Interrupt, PolicyVersion, Ruling
from inbox.platform import append_only_triggers
from inbox.rules.decisions.consent import digest
from inbox.transparency_log.reconciliation import reconcile
from tests.support.environment import IS_FULL
from tests.support.policies.published import publish, rule, tool_is, up_to
from tests.support.policies.refunds import proposals
from tests.support.policies.replay import replay_all
from tests.support.steps import open_interrupts, start

SMALL = rule("small", "allow", tool_is("refund"), up_to(50))
LOOKALIKE, HIDDEN = "\uff14\uff10", "4\u200b0"
TEXTS = ["40", "forty", LOOKALIKE, HIDDEN]
ODD = [None, True, [], {}, -1, 0, 50.0, 50.5, 1e300, 9007199254740991, *TEXTS]
ABOVE = {"path": "/args/amount", "op": "gt", "value": 500}
REFERENCES = {"path": "/args/lines", "op": "longest", "value": 2}
HOME = {"path": "/args/to", "op": "domain_is", "value": "example.org"}
VERSIONS = [
    [SMALL],
    [SMALL, rule("foreign", "ask", tool_is("refund"), {**HOME, "not": True})],
    [
        rule("small", "allow", tool_is("refund"), up_to(80), unless=[REFERENCES]),
        rule("large", "deny", tool_is("refund"), ABOVE),
        rule("late", "ask", tool_is("refund"), require={"expires_after": "PT4H"}, mode="shadow"),
    ],
]


def arguments(random):
    members = {
        "amount": random.choice([*ODD, *(random.randint(-10, 1000) for _ in range(14))]),
        "to": random.choice(["a@example.org", "a@example.net", "a@example.org, b@example.net", 1]),
        "lines": random.choice([[], [1, 2, 3], "abc", {"a": "ж" * 10}]),
    }
    return {name: value for name, value in members.items() if random.random() < 0.8}


def test_stored_rulings_are_the_same_on_replay(world, as_agent):
    random = Random(17)
    runs = 10 if IS_FULL else 3
    for number in range(runs):
        publish(world, *VERSIONS[number % 3], rule(f"v{number}", "allow", up_to(0)))
        calls = [arguments(random) for _ in range(100)]
        start(world, "go", agent=as_agent(proposals(calls)))

    assert replay_all() == {"number": 100 * runs, "differences": []}
    effects = set(Ruling.objects.values_list("effect", flat=True))
    assert effects == {"allow", "ask", "deny"}
    assert reconcile() == []


@pytest.fixture
def rulings(world, as_agent):
    """A call that a rule allowed and one that waits; without the triggers against changes."""
    publish(world, SMALL)
    run = start(world, "go", agent=as_agent(proposals([{"amount": 1}])))
    start(world, "go", agent=as_agent(proposals([{"amount": 500}])))
    assert (reconcile(), replay_all()["differences"]) == ([], [])
    append_only_triggers.remove(connection)
    return Ruling.objects.filter(interrupt__run=run)


def with_member(row, name, value):
    return json.dumps({**json.loads(row.body), name: value})


def forge_rules(rulings):
    rulings.update(body=with_member(rulings.get(), "rules", ["other"]))


def forge_fact(rulings):
    facts = {**json.loads(rulings.get().body)["facts"], "environment": "test"}
    rulings.update(body=with_member(rulings.get(), "facts", facts))


def forge_text(rulings):
    rulings.update(body="{")


def forge_effect(rulings):
    rulings.update(effect="deny")


def forge_open_question(_):
    Ruling.objects.filter(effect="ask").update(effect="allow")


def forge_policy(_):
    PolicyVersion.objects.update(body=PolicyVersion.objects.get().body.replace("50", "5000"))


def forge_policy_and_digest(_):
    body = PolicyVersion.objects.get().body.replace("50", "5000")
    PolicyVersion.objects.update(body=body, digest=digest(body))


def forge_version(rulings):
    other = PolicyVersion.objects.get()
    other.pk, other.number = None, 2
    other.save(force_insert=True)
    rulings.update(version=other)


def forge_arguments(rulings):
    Interrupt.objects.filter(rulings__in=rulings).update(args='{"amount":2}')


def delete_ruling(rulings):
    Decision.objects.update(ruling=None)
    rulings.delete()


def swap_ruling(_):
    Decision.objects.update(ruling=Ruling.objects.get(effect="ask"))


def add_ruling(rulings):
    row = rulings.get()
    row.pk, row.number, row.body = None, 2, with_member(row, "rules", ["other"])
    row.save(force_insert=True)


FORGERIES = [
    forge_rules,
    forge_fact,
    forge_text,
    forge_effect,
    forge_open_question,
    forge_policy,
    forge_policy_and_digest,
    forge_version,
    forge_arguments,
    delete_ruling,
    swap_ruling,
    add_ruling,
]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forged_ruling_or_policy_is_found(rulings, forge):
    forge(rulings)

    assert reconcile() != []


def test_an_erased_entry_is_not_compared(rulings):
    AuditPayload.objects.all().delete()

    assert reconcile() == []


def test_the_forgery_of_a_fact_is_found_on_replay(world, rulings):
    (waiting,) = Ruling.objects.filter(effect="ask")
    facts = {**json.loads(waiting.body)["facts"], "tool": "transfer"}
    Ruling.objects.filter(pk=waiting.pk).update(body=with_member(waiting, "facts", facts))

    assert len(replay_all()["differences"]) == 2
    assert open_interrupts(waiting.interrupt.run)
