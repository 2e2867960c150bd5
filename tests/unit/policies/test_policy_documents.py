"""Reading policies: what is a policy, and the problems of what is not."""

import json

import pytest

from inbox.rules.policies.language.document import PolicyError, parse_policy
from inbox.rules.policies.language.policy import canonical_body, policy_digest
from tests.support.policies.documents import (
    BERLIN,
    IS_REFUND,
    amount,
    condition,
    document,
    problems,
    rule,
)

QUORUM = {
    "slots": [{"group": "finance"}, {"role": "reviewer"}],
    "self_approval": False,
    "fresh_sign_in_minutes": 5,
    "keys": False,
    "via": ["web"],
    "grantable": False,
    "expires_after": "PT4H",
    "on_expiry": "deny",
    "hours": "berlin",
    "remind": ["PT1H"],
    "escalate": [{"after": "PT2H", "to": "group:leads"}],
}


def problems_of(*conditions, **more):
    return [
        (pointer.removeprefix("/rules/0/"), code)
        for pointer, code in problems(document(rule("ask", *conditions, **more)))
    ]


def test_a_full_document_is_read_and_written_back_unchanged():
    body = document(
        rule(
            "allow",
            IS_REFUND,
            amount("lte", 50),
            condition("/args/to", "ends_with", ".example.org", each="every", not_=True),
            condition("/args", "schema", {"required": ["amount"]}),
            condition("/local_time", "in_hours", "berlin"),
            name="Small refunds",
            mode="shadow",
            unless=[condition("/args/to", "domain_is", ["example.com"])],
        ),
        rule("ask", IS_REFUND, name="Large refunds", require=QUORUM),
        rule("deny", condition("/args/force", "present")),
    )

    assert json.loads(canonical_body(parse_policy(body))) == body


def test_order_of_members_and_default_values_do_not_change_the_digest():
    plain = rule("ask", IS_REFUND, require={"slots": []})
    spelled = dict(reversed(rule("ask", IS_REFUND, mode="enforce", require={}).items()))
    spelled["require"] = {"keys": True, "grantable": True, "on_expiry": "cancel"}

    digests = {policy_digest(parse_policy(document(body))) for body in (plain, spelled)}

    assert len(digests) == 1


def test_all_problems_are_reported_at_once_with_their_places():
    body = document(
        rule("maybe", amount("lte", "50"), id="Refund"),
        rule("ask", {"path": "/amount", "op": "less"}, require={"slots": [{"role": "boss"}]}),
        extra=1,
    )

    assert set(problems(body)) == {
        ("/rules/0/effect", "choice"),
        ("/rules/0/id", "id"),
        ("/rules/0/when/0/value", "type"),
        ("/rules/1/when/0/path", "unknown_fact"),
        ("/rules/1/when/0/op", "choice"),
        ("/rules/1/require/slots/0/role", "choice"),
        ("/extra", "unknown_member"),
    }


def test_the_error_has_problems_for_clients_as_sentences():
    with pytest.raises(PolicyError) as error:
        parse_policy({"rules": {}})

    assert error.value.detail["problems"] == [
        {"pointer": "/rules", "code": "type", "message": "This must be a list."}
    ]


@pytest.mark.parametrize("body", [None, [], "rules", 1, True, float("nan"), {"rules": {1: 2}}, {1}])
def test_other_values_are_no_policy(body):
    assert problems(body)


@pytest.mark.parametrize(
    ("op", "value", "code"),
    [
        ("lt", True, "type"),
        ("lt", "50", "type"),
        ("lt", None, "missing"),
        ("between", [2, 1], "range"),
        ("between", [1], "range"),
        ("is", [1], "type"),
        ("is", {"a": 1}, "type"),
        ("is", "x" * 1001, "text"),
        ("is_one_of", [], "list"),
        ("is_one_of", [1] * 101, "list"),
        ("is_one_of", "refund", "list"),
        ("starts_with", "", "text"),
        ("contains", 1, "text"),
        ("matches", "*" * 9, "glob"),
        ("matches", "x" * 201, "text"),
        ("domain_is", "https://example.org", "domain"),
        ("domain_is", ["org"], "domain"),
        ("longest", -1, "range"),
        ("longest", 1.0, "range"),
        ("present", False, "type"),
        ("schema", True, "type"),
        ("schema", {"type": "nonsense"}, "schema"),
        ("schema", {"$ref": "https://example.org/schema"}, "schema"),
    ],
)
def test_operands_have_the_type_of_their_operator(op, value, code):
    assert problems_of(condition("/args/x", op, value)) == [("when/0/value", code)]


@pytest.mark.parametrize(
    ("path", "op", "value"),
    [
        ("/tool", "lte", 50),
        ("/agent", "between", [1, 2]),
        ("/args", "is", "x"),
        ("/local_time", "is", "12:00"),
        ("/args/at", "in_hours", "berlin"),
        ("/requester/groups", "is", "finance"),
    ],
)
def test_a_condition_that_could_never_hold_is_refused(path, op, value):
    assert problems_of(condition(path, op, value)) == [("when/0/op", "op_for_path")]


def test_each_is_for_lists_only():
    assert problems_of(condition("/tool", "is", "refund", each="any")) != []
    assert problems_of(condition("/requester/groups", "is", "finance", each="any")) == []
    assert problems_of(condition("/args/x", "present", each="any")) != []


@pytest.mark.parametrize(
    "path", ["", "args", "/", "/time", "/requester", "/tool/x", "/args/~2", "/args" + "/a" * 16]
)
def test_paths_are_pointers_to_known_facts(path):
    assert [pointer for pointer, _ in problems_of(condition(path, "is", 1))] == ["when/0/path"]


@pytest.mark.parametrize(
    ("require", "pointer", "code"),
    [
        ({"slots": [{"group": "a", "role": "admin"}]}, "slots/0", "slot"),
        ({"slots": [{}]}, "slots/0", "slot"),
        ({"slots": [{"role": "viewer"}]}, "slots/0/role", "choice"),
        ({"slots": [{"role": "reviewer"}] * 11}, "slots", "too_many"),
        (
            {"slots": [{"role": "admin"}] * 2, "grantable": True},
            "grantable",
            "grantable_for_several",
        ),
        ({"fresh_sign_in_minutes": 0}, "fresh_sign_in_minutes", "range"),
        ({"fresh_sign_in_minutes": True}, "fresh_sign_in_minutes", "range"),
        ({"via": []}, "via", "empty"),
        ({"via": ["telegraph"]}, "via/0", "choice"),
        ({"expires_after": "4 hours"}, "expires_after", "duration"),
        ({"expires_after": "PT0M"}, "expires_after", "duration"),
        ({"expires_after": "P366D"}, "expires_after", "duration"),
        ({"hours": "paris"}, "hours", "unknown_calendar"),
        ({"on_expiry": "approve"}, "on_expiry", "choice"),
        ({"expires_after": "PT1H", "remind": ["PT1H"]}, "remind/0", "after_expiry"),
        ({"escalate": [{"after": "PT1H", "to": "leads"}]}, "escalate/0/to", "target"),
        ({"escalate": [{"after": "PT1H"}]}, "escalate/0/to", "missing"),
        ({"quorum": 2}, "quorum", "unknown_member"),
    ],
)
def test_problems_of_requirements(require, pointer, code):
    assert problems_of(IS_REFUND, require=require) == [(f"require/{pointer}", code)]


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"zone": "Berlin"}, "zone", "zone"),
        ({"zone": "../../etc/passwd"}, "zone", "zone"),
        ({"week": {}}, "week", "never_open"),
        ({"week": {"Monday": []}}, "week/Monday", "unknown_member"),
        ({"week": {"mon": [["17:00", "09:00"]]}}, "week/mon/0", "interval"),
        ({"week": {"mon": [["9:00", "17:00"]]}}, "week/mon/0", "interval"),
        ({"week": {"mon": [["09:00", "12:00"], ["11:00", "17:00"]]}}, "week/mon", "overlap"),
        ({"closed": ["25.12.2026"]}, "closed/0", "date"),
        ({"closed": ["20261225"]}, "closed/0", "date"),
    ],
)
def test_problems_of_calendars(change, pointer, code):
    body = document(calendars={"berlin": {**BERLIN, **change}})

    assert (f"/calendars/berlin/{pointer}", code) in problems(body)


def test_a_rule_that_allows_needs_a_condition():
    assert problems_of(IS_REFUND) == []
    assert problems(document(rule("allow"))) == [("/rules/0/when", "allows_everything")]


def test_only_rules_that_ask_have_requirements():
    assert problems(document(rule("deny", require={}))) == [("/rules/0/require", "not_asked")]


def test_ids_of_rules_are_unique():
    assert problems(document(rule("ask"), rule("ask"))) == [("/rules/1/id", "duplicate_id")]


def test_policies_of_the_installation_ask_and_deny_only():
    assert problems(document(rule("ask"), rule("deny")), installation=True) == []
    assert problems(document(rule("allow", IS_REFUND)), installation=True) == [
        ("/rules/0/effect", "installation_allows")
    ]


def test_a_grant_is_no_effect_of_a_rule():
    assert problems(document(rule("grant", IS_REFUND))) == [("/rules/0/effect", "choice")]


def test_the_limits_of_documents():
    rules = [rule("ask", id=f"r{number}") for number in range(101)]

    assert problems(document(*rules[:100])) == []
    assert problems(document(*rules)) == [("/rules", "too_many")]
    assert problems_of(*[IS_REFUND] * 20) == []
    assert problems_of(*[IS_REFUND] * 21) == [("when", "too_many")]
    assert problems_of(*[IS_REFUND] * 20, unless=[IS_REFUND])[0][1] == "too_many"
    assert problems({"rules": [], "x": "y" * 65536}) == [("", "too_large")]


@pytest.mark.parametrize("what", ["ref\u200bund", "r\u0435fund", "re\u202efund"])
def test_misleading_characters_are_refused(what):
    assert ("/rules/0/when/0/value", "deceptive") in problems(
        document(rule("ask", condition("/tool", "is", what)))
    )


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


def endless():
    value = {}
    value["rules"] = value
    return value


@pytest.mark.parametrize(
    "body",
    [nested(100_000), endless(), {"rules": [1] * 30_000}, {"rules": 10**5000}, {"rules": "\ud800"}],
)
def test_hostile_documents_are_refused(body):
    assert [code for _, code in problems(body)] in (["not_json"], ["deceptive"])


def test_the_number_of_problems_is_bounded():
    body = document(*[{"id": n, "effect": n, "x": n} for n in range(100)])

    assert len(problems(body)) == 50
