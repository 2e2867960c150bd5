"""Decisions of policies on interrupts."""

from collections.abc import Sequence
from datetime import datetime

from inbox.actions.decisions.decide import DecisionDraft, authorize, record_decisions
from inbox.actions.runs.resume import queue_resume_if_complete
from inbox.models import Interrupt, Thread
from inbox.queries.audit.sink_lag import is_lag_too_large
from inbox.queries.policies.policies import answer_of_policy
from inbox.queries.runs.interrupt_states import interrupt_state
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import POLICY


def decide_by_policy(*, thread: Thread, rows: Sequence[Interrupt], now: datetime) -> None:
    """
    Answer the interrupts of a run that the policy allows or denies, in the caller's transaction.

    While decisions wait for a sink of the audit trail, people decide instead, later.
    The run is resumed at once if that answers all of them. The caller holds the thread's lock.
    """
    answers = [(row, answer) for row in rows if (answer := answer_of_policy(row)) is not None]
    if not answers or is_lag_too_large():
        return
    run = answers[0][0].run
    authorization = authorize(thread=thread, now=now, actor=POLICY, entrance=Entrance.POLICY)
    drafts = [DecisionDraft(row, interrupt_state(row, None), answer) for row, answer in answers]
    record_decisions(authorization, run=run, drafts=drafts)
    queue_resume_if_complete(thread=thread, run=run, now=now, started_by=POLICY.label)
