"""Identical and simultaneous requests, over HTTP."""

import random
from functools import partial

from tests.campaigns.faults.setup import Stage
from tests.campaigns.report import Report
from tests.support.product_client import (
    APPROVE,
    at_once,
    interrupts_of,
    run_input,
    wait_for,
)

_RESUMES = """
SELECT count(*) FROM inbox_run n JOIN inbox_run r ON n.resumes_id = r.id
JOIN inbox_thread t ON r.thread_id = t.id WHERE t.external_id = %s
"""


def same_resume(stage: Stage, *, short: bool) -> Report:
    """Four clients send one resume at the same moment: one run, the tool once, four successes."""
    report = Report("same resume, four times")
    rounds = 10 if short else 100
    for number in range(rounds):
        input_body = run_input(text="rehearse:tool_call")
        (question,) = interrupts_of(stage.client.agui(input_body))
        entry = {"interruptId": question["id"], "status": "resolved", "payload": APPROVE}
        thread = input_body["threadId"]
        streams = at_once(
            [
                partial(stage.client.agui, run_input(thread_id=thread, resume=[entry]))
                for _ in range(4)
            ]
        )
        ends = [(events[-1]["type"], (events[-1].get("outcome") or {})) for events in streams]
        report.expect(
            that=all(end == ("RUN_FINISHED", {"type": "success"}) for end in ends),
            otherwise=f"round {number}: the four clients saw {ends}",
        )
        executed = stage.ledger.executions(thread, question["toolCallId"])
        report.expect(
            that=executed == 1, otherwise=f"round {number}: the tool ran {executed} times"
        )
        resumes = stage.facts.value(_RESUMES, thread)
        report.expect(that=resumes == 1, otherwise=f"round {number}: {resumes} resume runs")
    report.figures["rounds of four identical resumes"] = rounds
    report.violate(*stage.facts.violations())
    return report.done()


def last_two(stage: Stage, *, short: bool) -> Report:
    """Two people answer the last two of n interrupts at the same moment: exactly one resume."""
    report = Report("last two at once")
    rounds = 30 if short else 200
    left_waiting = 0
    for number in range(rounds):
        input_body = run_input(text=f"rehearse:parallel:{random.randint(2, 5)}")
        stage.client.agui(input_body)
        rows = [row for row in stage.client.pending() if row["thread_id"] == input_body["threadId"]]
        for row in rows[:-2]:
            stage.client.decide(row, APPROVE).raise_for_status()
        answers = at_once([partial(stage.client.decide, row, APPROVE) for row in rows[-2:]])
        statuses = [answer.status_code for answer in answers]
        report.expect(
            that=statuses == [200, 200], otherwise=f"round {number}: answered with {statuses}"
        )
        if not wait_for(stage.facts.is_everything_ended, seconds=10, every=0.02):
            left_waiting += 1
        resumes = stage.facts.value(_RESUMES, input_body["threadId"])
        report.expect(that=resumes == 1, otherwise=f"round {number}: {resumes} resume runs")
    report.figures["rounds of two last answers at once"] = rounds
    report.figures["threads left waiting"] = left_waiting
    report.expect(that=left_waiting == 0, otherwise=f"{left_waiting} threads were left waiting")
    report.violate(*stage.facts.violations())
    return report.done()
