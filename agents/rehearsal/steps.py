"""The steps that scenarios are made of."""

from collections.abc import AsyncIterator
from datetime import timedelta

import ag_ui.core as agui
from ag_ui.core import BaseEvent

from agents.agui.strict_json import dumps
from agents.rehearsal.tools import ask_user, charge, deploy, send_email, transfer
from agents.sdk.step import Turn

Events = AsyncIterator[BaseEvent | list[BaseEvent]]

EMAILS = (
    ("dana@example.com", "Your invoice"),
    ("eli@example.com", "Your contract"),
    ("fran@example.com", "Your appointment"),
)

FILING_SCHEMA = {
    "type": "object",
    "title": "Quarterly filing",
    "properties": {
        "quarter": {"type": "string", "enum": ["Q1", "Q2", "Q3", "Q4"]},
        "year": {"type": "integer", "minimum": 2000},
        "revenue": {"type": "number"},
    },
    "required": ["quarter", "year", "revenue"],
}


async def propose_emails(
    turn: Turn, *, number: int, expires_in: timedelta = timedelta(hours=1)
) -> Events:
    what = "an e-mail" if number == 1 else f"{number} e-mails"
    yield turn.say(f"I would like to send {what}.")
    for index in range(number):
        to, subject = EMAILS[index % len(EMAILS)]
        if index >= len(EMAILS):
            subject = f"{subject} ({index + 1})"
        yield turn.propose(send_email, {"to": to, "subject": subject}, expires_in=expires_in)


async def propose_deploy(turn: Turn) -> Events:
    yield turn.say("Next I would like to deploy.")
    yield turn.propose(deploy, {"environment": "production"})


async def propose_charge(turn: Turn, *, key: str) -> Events:
    yield turn.say(f"I would like to charge {key}, once.")
    yield turn.propose(charge, {"key": key})


async def propose_transfer(turn: Turn) -> Events:
    yield turn.say("I am transferring 5,000 EUR.")
    yield turn.propose(transfer, {"amount": 5000})


async def propose_question(turn: Turn) -> Events:
    yield turn.say("I need to know one thing.")
    yield turn.propose(
        ask_user,
        {
            "question": "Which colour should the button have?",
            "options": ["blue", "green", "red"],
        },
    )


async def ask_filing(turn: Turn) -> Events:
    yield turn.say("I need three figures for the quarterly filing.")
    turn.interrupt(
        "input_required",
        message="Fill in the quarterly filing",
        response_schema=FILING_SCHEMA,
        expires_in=timedelta(hours=1),
    )


async def ask_confirmation(turn: Turn) -> Events:
    yield turn.say("I am about to archive 12 closed threads.")
    turn.interrupt(
        "confirmation",
        message="Archive 12 closed threads?",
        response_schema={"type": "boolean"},
        expires_in=timedelta(hours=1),
    )


async def hold_for_policy(turn: Turn) -> Events:
    yield turn.say("A policy holds me here.")
    turn.interrupt(
        "inbox:policy_hold", metadata={"policy": "four-eyes", "subject": "Payment run 2026-11"}
    )


async def suspend_subagent(turn: Turn) -> Events:
    subagent = turn.new_id("s")
    yield agui.SubagentStartedEvent(
        subagent_run_id=subagent, name="researcher", description="Looks things up."
    )
    yield turn.say(
        "I found two sources and may read the second only with consent.", subagent=subagent
    )
    asked = turn.interrupt(
        "confirmation",
        message="May the researcher read the second source?",
        response_schema={"type": "boolean"},
        expires_in=timedelta(hours=1),
        subagent_run_id=subagent,
    )
    yield agui.SubagentFinishedEvent(
        subagent_run_id=subagent,
        outcome=agui.SubagentFinishedSuspendedOutcome(interrupt_ids=[asked.id]),
    )


async def report_answers(turn: Turn) -> Events:
    """Say what was answered, for interrupts that are not about a tool call."""
    for answer in turn.answers:
        if answer.resume_entry.status == "cancelled":
            yield turn.say("Nobody answered, so I leave it.")
        else:
            yield turn.say(f"The answer was {dumps(answer.resume_entry.payload)}.")


async def report_calls(turn: Turn) -> Events:
    number = len(turn.answers)
    yield turn.say("The decision is carried out." if number == 1 else f"All {number} are decided.")


async def fail(turn: Turn) -> Events:
    yield turn.say("This is going to fail.")
    yield agui.RunErrorEvent(message="The agent failed, as it was asked to.", code="AGENT_ERROR")


async def echo(turn: Turn, *, text: str) -> Events:
    yield turn.say(text)


async def stream(turn: Turn, *, number: int, milliseconds: int) -> Events:
    deltas = (f"word {index} " for index in range(1, number + 1))
    async for event in turn.stream(deltas, every=timedelta(milliseconds=milliseconds)):
        yield event


async def sleep(turn: Turn, *, seconds: int) -> Events:
    for second in range(1, seconds + 1):
        name = f"second {second} of {seconds}"
        yield agui.StepStartedEvent(step_name=name)
        await turn.clock.sleep(1)
        yield agui.StepFinishedEvent(step_name=name)
    yield turn.say(f"I slept for {seconds} seconds.")
