"""Authors outside of this installation describe their requests, but never rename what they ask."""

import json

import pytest

from inbox.actions.agents.tool_presentations import set_tool_presentation
from inbox.mcp_server.tool_arguments import RequestApproval, read_arguments
from inbox.mcp_server.tools import Caller, request_approval
from inbox.models import Interrupt
from inbox.queries.people.api_keys import actor_of_key
from inbox.rules.people.access import SEED
from tests.support.requests.programs import program
from tests.support.web.pages import words
from tests.web.agents.test_tool_presentations import elsewhere, refunds, request_of

__all__ = ["elsewhere", "program", "refunds", "request_of"]

EVIL = {"to": "EVIL-ACCOUNT", "amount": 900000}
LIES = {
    "amount": {"label": "Reference", "role": "reference", "unit": "of 1 EUR"},
    "to": {"label": "Amount: 1 EUR", "role": "amount"},
}
PRESENT = {"severity": "low", "reversible": True, "step": {"number": 1, "total": 2}}
METADATA = {"signoff": {"present": {**PRESENT, "values": LIES}}}
SCHEMA = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "x-present": LIES["to"]},
        "amount": {"type": "number", "x-present": LIES["amount"]},
    },
}


def arguments_of(reader, interrupt):
    """Return the words of the page below its heading of the arguments."""
    page = words(reader.get(f"/interrupts/{interrupt.pk}/"))
    _, heading, below = page.partition("Arguments as proposed")
    if not heading:
        _, heading, below = page.partition("Arguments")
    assert heading
    return below.partition(" says ")[0]


def over_rest(program):
    program.ask(tool="pay", args=EVIL, metadata=METADATA, may_edit=False)


def over_rest_with_a_schema(program):
    program.ask(tool="pay", args=EVIL, args_schema=SCHEMA)


def over_mcp(program):
    arguments = {"title": "Pay?", "tool": "pay", "args": EVIL, "metadata": METADATA}
    model = read_arguments(RequestApproval, {**arguments, "wait_seconds": 0})
    caller = Caller(lambda: actor_of_key(program.token), client="", agent="", session="")
    request_approval(caller, model, as_task=False)


@pytest.mark.parametrize("ask", [over_rest, over_rest_with_a_schema, over_mcp])
def test_a_program_does_not_rename_the_arguments_it_asks_about(program, reads_bob, ask):
    ask(program)

    arguments = arguments_of(reads_bob, Interrupt.objects.get())

    assert "Amount" in arguments
    assert "EVIL-ACCOUNT" in arguments
    assert "Reference" not in arguments
    assert "1 EUR" not in arguments


def test_a_schema_of_a_remote_agent_renames_no_argument(request_of, reads_bob):
    body = {"type": "object", "properties": {"approved": {}, "editedArgs": SCHEMA}}
    interrupt = request_of(EVIL)
    stored = {**json.loads(interrupt.body), "responseSchema": body}
    Interrupt.objects.filter(pk=interrupt.pk).update(body=json.dumps(stored))

    arguments = arguments_of(reads_bob, interrupt)

    assert "EVIL-ACCOUNT" in arguments
    assert "Reference" not in arguments
    assert "1 EUR" not in arguments


def test_a_bulk_review_shows_the_names_of_a_programs_arguments(program, reads_bob):
    for amount in (900000, 800000):
        program.ask(tool="pay", args={**EVIL, "amount": amount}, metadata=METADATA)

    page = words(reads_bob.get(f"/similar/{Interrupt.objects.first().pk}/"))

    assert "900,000" in page
    assert "900,000 of 1 EUR" not in page


def test_a_bulk_review_tells_facts_of_a_program_from_its_arguments(program, reads_bob):
    present = {"title": "Pay \u202e1 EUR", "facts": [{"label": "amount", "value": "1 EUR"}]}
    metadata = {"signoff": {"present": present}, "to": "a friend"}
    for amount in (900000, 800000):
        program.ask(tool="pay", args={**EVIL, "amount": amount}, metadata=metadata)

    page = words(reads_bob.get(f"/similar/{Interrupt.objects.first().pk}/"))

    assert "amount, says the program 1 EUR" in page
    assert "to, says the program a friend" in page
    assert "\u202e" not in page


def test_badges_of_a_program_name_their_author(program, reads_bob):
    program.ask(tool="pay", args=EVIL, metadata=METADATA)

    page = words(reads_bob.get(f"/interrupts/{Interrupt.objects.get().pk}/"))

    assert "Low risk, says the program" in page
    assert "Can be undone, says the program" in page
    assert "Step 1 of 2, says the program" in page
    assert "Not checked" in page


@pytest.mark.parametrize(
    ("present", "text"),
    [
        ({"severity": "high", "reversible": False}, "High risk, says the program"),
        ({"reversible": False}, "Cannot be undone, says the program"),
    ],
)
def test_the_list_names_the_author_of_a_risk(present, text, program, reads_bob):
    program.ask(metadata={"signoff": {"present": present}})

    assert text in words(reads_bob.get("/"))


def test_facts_of_a_program_stand_among_its_words(program, reads_bob):
    fact = {"label": "Checked by", "value": "the bank"}
    program.ask(tool="pay", args=EVIL, metadata={"signoff": {"present": {"facts": [fact]}}})
    interrupt = Interrupt.objects.get()

    page = words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))

    assert "Checked by" in page.partition(" says ")[2]
    assert "Checked by" not in arguments_of(reads_bob, interrupt)


def test_a_team_names_the_arguments_of_a_program(world, program, reads_bob):
    body = {"values": {"amount": {"label": "Amount to pay"}}}
    set_tool_presentation(team_id=world.team.pk, agent="", tool="pay", actor=SEED, body=body)
    program.ask(tool="pay", args=EVIL, metadata=METADATA)

    assert "Amount to pay" in arguments_of(reads_bob, Interrupt.objects.get())
