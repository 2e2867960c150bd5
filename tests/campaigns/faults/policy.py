"""The policy of the campaigns, and what must be true of its rulings afterwards."""

import json
import threading
from contextlib import suppress
from typing import Any

from tests.campaigns.faults.deployment import House
from tests.campaigns.report import Report
from tests.support.children import StartFailed
from tests.support.processes import manage

#: Sets of three have answers of rules only, of rules and people, and denials.
_PUBLISH = """
from inbox.actions.people.provisioning import ensure_team
from inbox.rules.people.access import SEED
from types import SimpleNamespace
from tests.support.policies.published import publish, rule, tool_is

def order_is(factor):
    schema = {"required": ["order"], "properties": {"order": {"multipleOf": factor}}}
    return {"path": "/args", "op": "schema", "value": schema}

def part(op):
    return {"path": "/args/part", "op": op, "value": 1}

team = ensure_team(slug="demo", name="Demo", actor=SEED)
publish(
    SimpleNamespace(team=team),
    rule("ships", "allow", tool_is("ship")),
    rule("even", "allow", tool_is("pay_out"), order_is(2)),
    rule("third", "deny", tool_is("pay_out"), order_is(3), part("gt")),
)
"""
_REPLAY = """
import json
from tests.support.policies.replay import replay_all
print(json.dumps(replay_all()))
"""
#: A person approves payments one after another, and allows further ones with each approval.
_GRANT = """
import json, time
from inbox.actions.decisions.decide import decide
from inbox.actions.people.provisioning import add_member, ensure_team
from inbox.models import Grant, Interrupt, User
from inbox.queries.people.api_keys import actor_of_user
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED, Role
from inbox.rules.policies.grants import GrantRequest
from inbox.rules.runs.states import EntryStatus

if not (user := User.objects.filter(username="granter").first()):
    team = ensure_team(slug="demo", name="Demo", actor=SEED)
    user = add_member(team=team, username="granter", full_name="Granter",
                      password="password-of-the-granter", role=Role.REVIEWER, actor=SEED)
until, made = time.monotonic() + 20, Grant.objects.count()
while time.monotonic() < until and Grant.objects.count() == made:
    row = Interrupt.objects.filter(status="open", tool="pay_out").order_by("-pk").first()
    if row is None:
        time.sleep(0.01)
        continue
    try:
        decide(
            interrupt_id=row.pk, status=EntryStatus.RESOLVED, payload={"approved": True},
            view_digest=row.shown_digest, actor=actor_of_user(user), entrance=Entrance.REST,
            grant=GrantRequest(dict.fromkeys(json.loads(row.args), "any"), is_for_agent=True,
                               most_uses=100),
        )
    except RequestRejected:
        pass
"""
_WRONG_USES = """
SELECT g.id, g.used, count(d.id) FROM inbox_grant g
LEFT JOIN inbox_decision d ON d.grant_id = g.id
GROUP BY g.id, g.used HAVING g.used <> count(d.id)
"""
_USES = "SELECT count(*), coalesce(sum(used), 0) FROM inbox_grant"
_EFFECTS = "SELECT effect, count(*) FROM inbox_ruling GROUP BY effect ORDER BY effect"
_NOT_ONE_RULING = """
SELECT i.id, count(r.id) FROM inbox_interrupt i LEFT JOIN inbox_ruling r ON r.interrupt_id = i.id
GROUP BY i.id HAVING count(r.id) <> 1
"""
_NOT_ONE_DECISION = """
SELECT i.id, count(d.id) FROM inbox_interrupt i
LEFT JOIN inbox_decision d ON d.interrupt_id = i.id AND d.withdrawn_at IS NULL
GROUP BY i.id HAVING count(d.id) <> 1
"""
_NOT_ONE_RESUME = """
SELECT r.id, count(n.id) FROM inbox_run r LEFT JOIN inbox_run n ON n.resumes_id = r.id
WHERE r.status = 'interrupted' GROUP BY r.id HAVING count(n.id) <> 1
"""
#: An answer of a rule that a person gave, or an answer of the policy without a rule.
_WRONG_AUTHORS = """
SELECT i.id, r.effect, d.actor_label FROM inbox_interrupt i
JOIN inbox_ruling r ON r.interrupt_id = i.id JOIN inbox_decision d ON d.interrupt_id = i.id
WHERE (r.effect = 'ask') = (d.actor_label = 'system:policy')
"""
_NOT_ONE_ENTRY = """
SELECT i.id, count(a.id) FROM inbox_interrupt i
LEFT JOIN inbox_auditentry a ON a.interrupt_id = i.id AND a.action = 'interrupt.resolved'
WHERE i.status = 'resolved' GROUP BY i.id HAVING count(a.id) <> 1
"""


def publish_policy(on: House) -> None:
    manage(on.environment, "shell", "-v0", "-c", _PUBLISH)


def make_grants(on: House, stop: threading.Event) -> None:
    """Let a person allow further payments, and again when the grant is used up."""
    while not stop.wait(2):
        with suppress(StartFailed):  # the database may be restarted
            manage(on.environment, "shell", "-v0", "-c", _GRANT)


def judge_rulings(report: Report, on: House) -> None:
    """Put down every contradiction between interrupts, rulings, decisions and the trail."""
    for what, query in (
        ("rulings", _NOT_ONE_RULING),
        ("decisions", _NOT_ONE_DECISION),
        ("resumes", _NOT_ONE_RESUME),
        ("entries about its answer", _NOT_ONE_ENTRY),
    ):
        rows = on.facts.rows(query)
        report.violate(*(f"{pk} has {number} {what}" for pk, number in rows))
    uses = on.facts.rows(_WRONG_USES)
    report.violate(*(f"grant {pk}: {used} uses, {count} decisions" for pk, used, count in uses))
    wrong = on.facts.rows(_WRONG_AUTHORS)
    report.violate(*(f"{pk}: the ruling is {effect}, by {by}" for pk, effect, by in wrong))
    replay: dict[str, Any] = json.loads(manage(on.environment, "shell", "-v0", "-c", _REPLAY))
    report.violate(*replay["differences"])
    ((grants, used),) = on.facts.rows(_USES)
    report.figures |= {"grants": grants, "uses of grants": used}
    report.figures |= {"rulings": dict(on.facts.rows(_EFFECTS)), "replayed": replay["number"]}
