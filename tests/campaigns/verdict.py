"""What must be true of orders, effects and doubts after a campaign at the desk."""

import json
from collections import Counter, defaultdict
from typing import Any
from uuid import UUID

from tests.campaigns.faults.deployment import DOUBT, House
from tests.campaigns.faults.desk import ONCE
from tests.campaigns.report import Report

Call = tuple[str, str]  #: thread and tool call, by their names outside

_ORDERS = "SELECT count(*) FROM inbox_run r JOIN inbox_idempotencyrecord i ON i.created_id = r.id"
_LAST_RUNS = """
SELECT t.external_id, r.status FROM inbox_thread t JOIN inbox_run r ON r.thread_id = t.id
WHERE NOT EXISTS (SELECT 1 FROM inbox_run n WHERE n.resumes_id = r.id)
"""
_CALLS = """
SELECT t.external_id, c.tool_call_id, c.name, c.state, c.effect FROM inbox_toolcall c
JOIN inbox_thread t ON c.thread_id = t.id
"""
_ANSWERS = """
SELECT t.external_id, c.tool_call_id, i.reason, d.payload FROM inbox_interrupt i
JOIN inbox_thread t ON i.thread_id = t.id
JOIN inbox_toolcall c ON i.tool_call_id = c.id
LEFT JOIN inbox_decision d ON d.interrupt_id = i.id
ORDER BY i.created_at, i.position
"""


def judge(report: Report, house: House, *, orders: int) -> None:
    """Put down every contradiction, and the figures."""
    facts = house.facts
    report.violate(*facts.violations())
    stored = facts.value(_ORDERS)
    report.expect(that=stored == orders, otherwise=f"{stored} of {orders} orders are stored")
    doubts, denied, stopped = _answers(house)
    last = dict(facts.rows(_LAST_RUNS))
    report.expect(that=len(last) == orders, otherwise=f"{len(last)} threads, {orders} orders")
    report.violate(
        *(
            f"thread {thread} ended {status}"
            for thread, status in last.items()
            if status != ("cancelled" if thread in stopped else "succeeded")
        )
    )
    effects = house.world.lines("effect")
    calls = {(thread, call): columns for thread, call, *columns in facts.rows(_CALLS)}
    _judge_effects(report, effects, calls, denied, stopped)
    _judge_doubts(report, house, calls, doubts)
    report.figures |= {
        "orders": orders,
        "runs, with their resumes": facts.value("SELECT count(*) FROM inbox_run"),
        "runs driven more than once": facts.value(
            "SELECT count(*) FROM inbox_run WHERE attempt > 1"
        ),
        "events": facts.value("SELECT count(*) FROM inbox_event"),
        "tool calls": len(calls),
        "effects of once calls": sum(line["tool"] in ONCE for line in effects),
        "calls of idempotent tools": sum(line["tool"] not in ONCE for line in effects),
        "idempotent calls made again, same key": len(effects) - len({_key(e) for e in effects}),
        "doubts": sum(len(operators) for operators in doubts.values()),
        "approvals denied": len(denied),
        "orders stopped by a person": len(stopped),
    }


def _key(effect: dict[str, Any]) -> str:
    return str(effect["key"])


def _answers(house: House) -> tuple[dict[Call, list[str]], set[Call], set[str]]:
    """The answers to each doubt, the calls that were denied, the threads that were stopped."""
    doubts: dict[Call, list[str]] = defaultdict(list)
    denied, stopped = set(), set()
    for thread, call, reason, payload in house.facts.rows(_ANSWERS):
        answer = json.loads(payload or "{}")
        if reason == DOUBT:
            doubts[thread, call].append(answer.get("outcome", ""))
            if answer.get("outcome") == "stop":
                stopped.add(thread)
        elif answer.get("approved") is not True:
            denied.add((thread, call))
    return doubts, denied, stopped


def _judge_effects(
    report: Report,
    effects: list[dict[str, Any]],
    calls: dict[Call, list[Any]],
    denied: set[Call],
    stopped: set[str],
) -> None:
    executions = Counter((line["thread"], line["call"]) for line in effects)
    keys = defaultdict(set)
    for line in effects:
        keys[line["operation"]].add(line["key"])
        if line["tool"] in ONCE and executions[line["thread"], line["call"]] > 1:
            report.violate(f"{line['operation']} may be called once and was called twice")
    report.violate(
        *(
            f"{operation} was done under {len(calls_by_key)} keys"
            for operation, calls_by_key in keys.items()
            if len(calls_by_key) > 1
        )
    )
    for (thread, call), (name, state, effect) in calls.items():
        if effect in ("once", "idempotent") and state == "settled" and not executions[thread, call]:
            report.violate(f"{name} {call} has a result and was never called")
        if (thread, call) in denied and executions[thread, call]:
            report.violate(f"{name} {call} was denied and called")
        if thread not in stopped and state not in ("settled", "not_run"):
            report.violate(f"{name} {call} was left {state}")
    unknown = [call for call in executions if call not in calls]
    report.expect(that=not unknown, otherwise=f"effects of calls that nobody knows: {unknown}")


def _judge_doubts(
    report: Report,
    house: House,
    calls: dict[Call, list[Any]],
    doubts: dict[Call, list[str]],
) -> None:
    """
    Each start of a `once` call that has no result was asked about, once, and no other.

    A process may be killed from another thread around the commit of a start: what it wrote before
    that commit says how often it can have started, what it wrote after it how often it did.
    """
    threads = {str(UUID(str(run))): thread for run, thread in house.facts.rows(_THREADS)}
    begun = house.world.lines("starting", "started")
    most = Counter((line["thread"], line["call"]) for line in begun if line["kind"] == "starting")
    least = Counter(
        (threads[line["run"]], line["call"]) for line in begun if line["kind"] == "started"
    )
    exact = 0
    for call in most.keys() | doubts.keys():
        name, state, _ = calls[call]
        answers = doubts.get(call, [])
        by_tool = state == "settled" and "happened" not in answers
        answer_count = len(answers)
        if not least[call] - by_tool <= answer_count <= most[call] - by_tool:
            report.violate(
                f"{name} {call} was started {least[call]} to {most[call]} times, is {state}, and "
                f"was asked about {answer_count} times: {answers}"
            )
        exact += least[call] == most[call]
        wrong = [answer for answer in answers[:-1] if answer != "did_not_happen"]
        report.expect(
            that=not wrong, otherwise=f"{name} {call} was asked about after the answers {wrong}"
        )
    report.figures["once calls whose every start is known"] = f"{exact} of {len(most)}"


_THREADS = """
SELECT r.id, t.external_id FROM inbox_run r JOIN inbox_thread t ON r.thread_id = t.id
"""
