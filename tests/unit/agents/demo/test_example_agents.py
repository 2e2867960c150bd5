"""The examples: each runs without a model, and does what its page in the docs says."""

import ag_ui.core as agui
import pytest
from ag_ui.core import RunAgentInput

from agents import registry
from tests.support.agents.doubles import Stage, cancelled

APPROVE = {"approved": True}
EXAMPLES = [
    "refund-desk",
    "release-train",
    "database-steward",
    "onboarding",
    "importer",
    "treasury",
    "expense-desk",
]


def stage_of(name):
    return Stage(registry.get(name))


@pytest.mark.parametrize("name", EXAMPLES)
async def test_an_example_says_what_it_is_and_ends_well_when_nobody_answers(name):
    stage = stage_of(name)
    assert stage.agent.name == name
    assert stage.agent.description.endswith(".")

    await stage.say("go")
    for _ in range(20):
        if stage.outcome != "interrupt":
            break
        await stage.answer(*[cancelled(interrupt) for interrupt in stage.interrupts])

    assert stage.outcome == "success"
    assert stage.text


async def test_a_refund_can_be_changed_before_it_is_made():
    stage = stage_of("refund-desk")
    await stage.say("go")
    (interrupt,) = stage.interrupts

    await stage.answer({"approved": True, "editedArgs": _args_of(stage) | {"amount": 124.5}})

    assert interrupt.message == "Refund $142.50 for order #88121"
    assert "\n" in _args_of(stage)["note"]
    assert stage.text == "Done: refund of $124.50 issued for order #88121."


async def test_a_refund_desk_answers_a_question_and_asks_again():
    stage = stage_of("refund-desk")
    await stage.say("go")

    suggested = _args_of(stage) | {"amount": 100}
    await stage.answer({"approved": False, "feedback": "Why?", "editedArgs": suggested})
    (again,) = stage.interrupts
    await stage.answer(APPROVE)

    assert again.message == "Refund $100.00 for order #88121"
    assert stage.text == "Done: refund of $100.00 issued for order #88121."


async def test_a_small_refund_needs_nobody():
    stage = stage_of("refund-desk")
    stage._input = lambda: RunAgentInput(
        thread_id="thread",
        run_id="run",
        messages=stage.conversation.messages,
        forwarded_props={"input": {"order": "88007", "why": "Late."}},
    )

    await stage.say("go")

    assert stage.outcome == "success"
    assert stage.text.endswith("refund of $12.00 issued for order #88007.")


async def test_a_release_train_promotes_what_was_approved():
    stage = stage_of("release-train")
    await stage.say("go")
    first = [interrupt.message for interrupt in stage.interrupts]
    await stage.answer(APPROVE, {"approved": False}, APPROVE)
    second = [interrupt.message for interrupt in stage.interrupts]

    await stage.answer(APPROVE)

    assert first == [
        f"Deploy {service} 9.2.1 to production" for service in ("api", "billing", "search")
    ]
    assert second == ["Give 9.2.1 all of the traffic"]
    assert stage.text == "9.2.1 serves all traffic of api, search"


async def test_a_dangerous_statement_shows_its_risk_and_can_be_a_dry_run():
    stage = stage_of("database-steward")
    await stage.say("go")
    (interrupt,) = stage.interrupts

    await stage.answer({"approved": True, "editedArgs": _args_of(stage) | {"dry_run": True}})

    assert interrupt.metadata["signoff"]["present"]["severity"] == "high"
    assert stage.text == "A dry run: 12,430 rows would be deleted."


async def test_a_wizard_asks_three_things_and_shares_what_it_knows():
    stage = stage_of("onboarding")
    await stage.say("go")
    messages = []
    for answer in (
        {"name": "Ana", "team": "Support", "starts_on": "2026-12-01"},
        {"laptop": "13 inch"},
        {"systems": ["Wiki"]},
    ):
        messages += [interrupt.message for interrupt in stage.interrupts]
        await stage.answer(answer)

    assert messages == ["Who joins us?", "What do they need on their desk?", "What may they use?"]
    assert stage.text == "Everything is ordered for Ana."
    assert stage.conversation.state["laptop"] == "13 inch"
    assert stage.of(agui.ActivitySnapshotEvent)[-1].content["done"] == 3


@pytest.mark.parametrize(
    ("advice", "text"),
    [
        ({"action": "retry", "encoding": "latin-1"}, "Imported 3,600 rows."),
        ({"action": "skip", "why": "It is old."}, "Imported 2,400 rows."),
        ({"action": "stop"}, "Stopped after 1,200 rows."),
    ],
)
async def test_an_importer_does_what_it_is_advised(advice, text):
    stage = stage_of("importer")
    await stage.say("go")

    await stage.answer(advice)

    assert stage.text == text


async def test_a_held_batch_is_paid_when_it_is_released():
    stage = stage_of("treasury")
    await stage.say("go")

    await stage.answer({"approved": True, "costCentre": "4711"})

    assert stage.text == "PB-2026-0042 is with the bank, booked on 4711"


def _args_of(stage):
    """The arguments that the agent proposed last."""
    *_, proposal = stage.journal.proposals.values()
    return dict(proposal.args)
