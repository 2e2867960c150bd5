"""The strictest of several requirements, and its escalations."""

import json
from datetime import timedelta

from inbox.rules.policies.language.document import parse_policy
from inbox.rules.policies.language.policy import Slot
from inbox.rules.policies.requirement import merge_requirements, requirement_from_json
from tests.support.policies.documents import NOW, document, rule

FINANCE, LEADS, REVIEWER = {"group": "finance"}, {"group": "leads"}, {"role": "reviewer"}
TO_LEADS = [{"after": "PT2H", "to": "group:leads"}]


def merged(*requirements):
    policy = parse_policy(
        document(*[rule("ask", id=f"r{n}", require=item) for n, item in enumerate(requirements)])
    )
    return merge_requirements([(item.require, policy.calendars) for item in policy.rules], NOW)


def slots(*requirements):
    return [slot.slot.key for slot in merged(*requirements).slots]


def test_each_group_has_the_most_slots_of_any_rule():
    assert slots({"slots": [FINANCE, FINANCE]}, {"slots": [FINANCE, LEADS]}) == [
        "group:finance",
        "group:finance",
        "group:leads",
    ]


def test_a_rule_without_slots_adds_nobody():
    assert slots({}, {"slots": [FINANCE]}) == ["group:finance"]
    assert slots({}, {}) == ["role:reviewer"]


def test_the_strictest_of_each_setting_counts():
    requirement = merged(
        {"self_approval": True, "fresh_sign_in_minutes": 60, "via": ["web", "rest"]},
        {"self_approval": False, "fresh_sign_in_minutes": 5, "via": ["web", "chat"]},
        {"keys": False, "on_expiry": "deny", "expires_after": "PT8H"},
        {"expires_after": "PT4H"},
    )

    assert requirement.self_approval is False
    assert requirement.fresh_sign_in_minutes == 5
    assert requirement.via == ("web",)
    assert not requirement.keys
    assert requirement.on_expiry == "deny"
    assert requirement.expires_at == NOW + timedelta(hours=4)


def test_self_approval_is_the_teams_setting_unless_every_rule_allows_it():
    assert merged({"self_approval": True}, {}).self_approval is None
    assert merged({"self_approval": True}).self_approval is True


def test_several_slots_exclude_grants():
    assert merged({"slots": [FINANCE]}, {}).grantable
    assert not merged({"slots": [FINANCE]}, {"slots": [LEADS]}).grantable


def test_the_shorter_time_counts_as_an_instant_and_not_as_a_duration():
    # One open hour after 16:30 in Berlin ends in the next morning.
    requirement = merge_requirements(
        [
            (rule.require, policy.calendars)
            for policy in [
                parse_policy(
                    document(
                        rule("ask", id="a", require={"expires_after": "PT1H", "hours": "berlin"}),
                        rule("ask", id="b", require={"expires_after": "PT3H"}),
                    )
                )
            ]
            for rule in policy.rules
        ],
        NOW.replace(hour=15, minute=30),
    )

    assert requirement.expires_at == NOW.replace(hour=18, minute=30)


def test_a_slot_escalates_only_if_every_rule_with_it_escalates():
    escalating = {"slots": [FINANCE], "escalate": TO_LEADS}

    assert merged(escalating).escalate_at == (NOW + timedelta(hours=2),)
    assert merged(escalating, {"slots": [FINANCE]}).escalate_at == ()
    later = {"slots": [FINANCE], "escalate": [{"after": "PT3H", "to": "group:leads"}]}
    assert merged(escalating, later).escalate_at == (NOW + timedelta(hours=3),)


def test_an_escalation_leaves_the_slots_of_other_rules_alone():
    requirement = merged({"slots": [FINANCE], "escalate": TO_LEADS}, {"slots": [REVIEWER]})

    before, after = (
        requirement.slots_at(NOW + timedelta(minutes=minutes)) for minutes in (119, 120)
    )

    finance, reviewer = Slot("group", "finance"), Slot("role", "reviewer")
    assert before == [{finance}, {reviewer}]
    assert after == [{finance, Slot("group", "leads")}, {reviewer}]


def test_reminders_and_escalations_after_the_expiry_are_dropped():
    requirement = merged(
        {"remind": ["PT1H", "PT6H"], "slots": [FINANCE], "escalate": TO_LEADS},
        {"expires_after": "PT2H"},
    )

    assert requirement.remind_at == (NOW + timedelta(hours=1),)
    assert requirement.escalate_at == ()


def test_a_requirement_is_stored_and_read_back():
    requirement = merged(
        {"slots": [FINANCE, REVIEWER], "escalate": TO_LEADS, "via": ["web"], "remind": ["PT1H"]},
        {"expires_after": "PT5H", "fresh_sign_in_minutes": 5},
    )

    assert requirement_from_json(json.loads(json.dumps(requirement.to_json()))) == requirement
