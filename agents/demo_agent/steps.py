"""The steps of the demo agent's scenarios."""

from collections.abc import AsyncIterator
from datetime import timedelta

import ag_ui.core as agui
from ag_ui.core import BaseEvent

from agents.agui.strict_json import dumps
from agents.demo_agent.tools import ask_user, charge, deploy, send_email, transfer
from agents.sdk.chat import text_of
from agents.sdk.context import tool_call_events
from agents.sdk.step import StepContext

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
    context: StepContext, *, number: int, expires_in: timedelta = timedelta(hours=1)
) -> Events:
    emails = "an e-mail" if number == 1 else f"{number} e-mails"
    yield context.text_message(f"I would like to send {emails}.")
    for index in range(number):
        to, subject = EMAILS[index % len(EMAILS)]
        if index >= len(EMAILS):
            subject = f"{subject} ({index + 1})"
        yield context.propose(send_email, {"to": to, "subject": subject}, expires_in=expires_in)


async def propose_deploy(context: StepContext) -> Events:
    yield context.text_message("Next I would like to deploy.")
    yield context.propose(deploy, {"environment": "production"})


async def propose_charge(context: StepContext, *, key: str) -> Events:
    yield context.text_message(f"I would like to charge {key}, once.")
    yield context.propose(charge, {"key": key})


async def propose_transfer(context: StepContext) -> Events:
    yield context.text_message("I am transferring 5,000 EUR.")
    yield context.propose(transfer, {"amount": 5000})


async def propose_question(context: StepContext) -> Events:
    yield context.text_message("I need to know one thing.")
    yield context.propose(
        ask_user,
        {
            "question": "Which colour should the button have?",
            "options": ["blue", "green", "red"],
        },
    )


async def ask_filing(context: StepContext) -> Events:
    yield context.text_message("I need three figures for the quarterly filing.")
    context.add_interrupt(
        "input_required",
        message="Fill in the quarterly filing",
        response_schema=FILING_SCHEMA,
        expires_in=timedelta(hours=1),
    )


async def ask_confirmation(context: StepContext) -> Events:
    yield context.text_message("I am about to archive 12 closed threads.")
    context.add_interrupt(
        "confirmation",
        message="Archive 12 closed threads?",
        response_schema={"type": "boolean"},
        expires_in=timedelta(hours=1),
    )


async def hold_for_policy(context: StepContext) -> Events:
    yield context.text_message("A policy holds me here.")
    context.add_interrupt(
        "inbox:policy_hold", metadata={"policy": "four-eyes", "subject": "Payment run 2026-11"}
    )


async def suspend_subagent(context: StepContext) -> Events:
    subagent = context.new_id("s")
    yield agui.SubagentStartedEvent(
        subagent_run_id=subagent, name="researcher", description="Looks things up."
    )
    yield context.text_message(
        "I found two sources and may read the second only with consent.", subagent=subagent
    )
    interrupt = context.add_interrupt(
        "confirmation",
        message="May the researcher read the second source?",
        response_schema={"type": "boolean"},
        expires_in=timedelta(hours=1),
        subagent_run_id=subagent,
    )
    yield agui.SubagentFinishedEvent(
        subagent_run_id=subagent,
        outcome=agui.SubagentFinishedSuspendedOutcome(interrupt_ids=[interrupt.id]),
    )


async def report_answers(context: StepContext) -> Events:
    """Report the answers to interrupts that are not about a tool call."""
    for answer in context.answers:
        if answer.resume_entry.status == "cancelled":
            yield context.text_message("Nobody answered, so I leave it.")
        else:
            yield context.text_message(f"The answer was {dumps(answer.resume_entry.payload)}.")


async def report_calls(context: StepContext) -> Events:
    number = len(context.answers)
    yield context.text_message(
        "The decision is carried out." if number == 1 else f"All {number} are decided."
    )


async def call_client_tool(context: StepContext) -> Events:
    """Call the first tool that the client offers, or report the result that it has sent."""
    tools, last = context.run_input.tools, context.run_input.messages[-1]
    if isinstance(last, agui.ToolMessage):
        yield context.text_message(f"The client's tool returned {text_of(last.content)}.")
    elif tools:
        message_id = context.open_message()
        yield tool_call_events(context.new_id("t"), tools[0].name, "{}", message_id)
    else:
        yield context.text_message("I need a client that offers a tool.")


async def fail(context: StepContext) -> Events:
    yield context.text_message("This is going to fail.")
    yield agui.RunErrorEvent(message="The agent failed, as it was asked to.", code="AGENT_ERROR")


async def echo(context: StepContext, *, text: str) -> Events:
    yield context.text_message(text)


async def stream(context: StepContext, *, number: int, milliseconds: int) -> Events:
    deltas = (f"word {index} " for index in range(1, number + 1))
    async for event in context.stream_message(deltas, every=timedelta(milliseconds=milliseconds)):
        yield event


async def sleep(context: StepContext, *, seconds: int) -> Events:
    for second in range(1, seconds + 1):
        name = f"second {second} of {seconds}"
        yield agui.StepStartedEvent(step_name=name)
        await context.clock.sleep(1)
        yield agui.StepFinishedEvent(step_name=name)
    yield context.text_message(f"I slept for {seconds} seconds.")
