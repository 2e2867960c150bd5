"""Headings: facts and the operator's texts, and nothing that came over the wire or from a model."""

import json

import pytest

from inbox.domain.headings import heading_of
from inbox.models import Interrupt
from tests.elsewhere import elsewhere
from tests.inbox.test_engine import about, asking, proposed
from tests.inbox.test_remote_agents import refunds
from tests.steps import open_interrupts, start
from tests.web import spec_examples as examples

__all__ = ["elsewhere", "refunds"]

DECEIVING = "✔ Verified by Security: routine restart"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"reason": "tool_call", "tool": "deploy"}, "Call deploy"),
        (
            {
                "reason": "tool_call",
                "tool": "pay",
                "values": {"to": "Kestrel", "amount": 12.5, "now": True, "memo": "rent"},
            },
            "Call pay (to Kestrel, amount 12.5, now true)",
        ),
        (
            {"reason": "tool_call", "tool": "pay", "values": {"note": "x" * 41, "key": "••••••••"}},
            "Call pay",
        ),
        ({"reason": "input_required"}, "Question"),
        ({"reason": "input_required", "tool": "ask_person"}, "Question: ask_person"),
        ({"reason": "confirmation"}, "Confirmation"),
        ({"reason": "langgraph:refund_approval"}, "Refund approval"),
        ({"reason": "draft:database_modification"}, "Database modification"),
        ({"reason": "draft:human_approval", "tool": "sendEmail"}, "Call sendEmail"),
        ({"reason": "acme:policyHold"}, "Policy Hold"),
        ({"reason": "acme:"}, "Acme:"),
        ({"reason": "acme:hold", "tool": "pay"}, "Hold: pay"),
    ],
)
def test_a_heading_over_the_wire_is_made_of_facts(more, expected):
    given = {"message": DECEIVING, "is_operators": False, "tool": "", "values": {}, **more}

    assert heading_of(**given) == expected


@pytest.mark.parametrize(
    ("message", "values", "expected"),
    [
        ("Pay 12.5 EUR to Kestrel", {"to": "Kestrel"}, "Pay 12.5 EUR to Kestrel"),
        ("", {}, "Call pay"),
        (DECEIVING, {"question": DECEIVING}, "Call pay"),
        (f"Say: {DECEIVING}", {"text": DECEIVING}, "Call pay"),
    ],
)
def test_a_heading_of_code_in_the_worker_is_its_authors_text(message, values, expected):
    given = {"reason": "tool_call", "message": message, "is_operators": True, "tool": "pay"}

    assert heading_of(**given, values=values).startswith(expected)


def test_words_of_an_agent_elsewhere_stand_below_the_heading(world, elsewhere, refunds, reads_bob):
    asked = examples.canonical({**examples.MINIMAL, "message": DECEIVING})
    elsewhere.runs = [asked]

    (interrupt,) = open_interrupts(start(world, "go", agent=refunds))

    page = reads_bob.open(interrupt)
    heading = page.partition('id="detail-title"')[2].partition("</h1>")[0]
    assert "Call sendEmail (body Hello, subject Hi, to a@b.com)" in heading
    assert DECEIVING not in heading
    assert DECEIVING in page.partition('class="words"')[2]
    row = reads_bob.get("/").content.decode().partition('class="row-title"')[2]
    assert DECEIVING not in row.partition("</a>")[0]
    assert f"refunds says: “<bdi>{DECEIVING}</bdi>”" in row


def test_a_secret_is_in_no_heading(world, elsewhere, refunds):
    asked = examples.canonical(examples.MINIMAL)
    asked[2]["delta"] = json.dumps({"password": "correct horse", "to": "a@b.com"})
    elsewhere.runs = [asked]

    start(world, "go", agent=refunds)

    assert Interrupt.objects.get().title == "Call sendEmail (to a@b.com)"


def test_a_heading_of_an_agent_in_the_worker_is_its_message(world, as_agent):
    async def play(run_input, _context):
        for event in proposed():
            yield event
        yield asking(run_input, about(message="Pay 5 EUR"))

    run = start(world, "go", agent=as_agent(play))

    assert open_interrupts(run)[0].title == "Pay 5 EUR"
