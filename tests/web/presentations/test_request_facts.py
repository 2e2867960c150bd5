"""A request as facts to read, with a field for each value behind its Edit button."""

import json
import re
from typing import Any

import pytest
from ag_ui.core import (
    Interrupt,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)

from agents.agui.interrupts import approval_schema
from agents.sdk.present import Fact, Present, Section, Value, with_present
from inbox.models import Interrupt as InterruptRow
from tests.support.steps import open_interrupts, start
from tests.support.web.pages import sent, words

PAYMENT = {"recipient": "Kestrel GmbH", "amount": 310, "currency": "EUR", "note": "KG-2211"}


@pytest.fixture
def propose(world, as_agent):
    """Let an agent propose a call of a tool; returns the interrupt."""

    def propose(
        tool: str, args: dict[str, Any], *, metadata: Any = None, schema: Any = None
    ) -> Any:
        async def play(run_input, ctx):
            yield ToolCallStartEvent(tool_call_id="t", tool_call_name=tool)
            yield ToolCallArgsEvent(tool_call_id="t", delta=json.dumps(args))
            yield ToolCallEndEvent(tool_call_id="t")
            interrupt = Interrupt(
                id="i",
                reason="tool_call",
                message=f"May I call {tool}?",
                tool_call_id="t",
                response_schema=approval_schema(edited_args=schema or {"type": "object"}),
                metadata=metadata,
            )
            yield RunFinishedEvent(
                thread_id=run_input.thread_id,
                run_id=run_input.run_id,
                outcome=RunFinishedInterruptOutcome(interrupts=[interrupt]),
            )

        return open_interrupts(start(world, "go", agent=as_agent(play)))[0]

    return propose


def schema_of(args: dict[str, Any]) -> dict[str, Any]:
    types = {str: "string", int: "integer", bool: "boolean", list: "array", dict: "object"}
    return {
        "type": "object",
        "properties": {name: {"type": types[type(value)]} for name, value in args.items()},
    }


def text_of(reader: Any, interrupt: Any) -> str:
    """The page of an interrupt as words."""
    return words(reader.get(f"/interrupts/{interrupt.pk}/"))


def test_values_are_read_and_their_fields_are_hidden(propose, reads_bob):
    interrupt = propose("transfer", PAYMENT, schema=schema_of(PAYMENT))

    page = reads_bob.open(interrupt)

    assert ">310</span>" in page
    assert page.count('class="value-form" hidden') == len(PAYMENT)
    assert page.count("data-edit>") == len(PAYMENT)
    assert 'class="payment"' in page


def test_each_value_stands_on_the_page_once_to_read(propose, reads_bob):
    values = {f"name{number}": f"text-{number}-end" for number in range(40)}
    interrupt = propose("collect", values, schema=schema_of(values))

    page = reads_bob.open(interrupt)

    for text in values.values():
        assert page.count(f'dir="auto">{text}</span>') == 1


def test_untouched_values_are_sent_as_the_agent_wrote_them(propose, reads_bob):
    interrupt = propose("transfer", PAYMENT, schema=schema_of(PAYMENT))

    reads_bob.send(interrupt, "approve")

    assert sent(interrupt) == {"approved": True}


def test_edited_value_is_sent_with_the_others_untouched(propose, reads_bob):
    interrupt = propose("transfer", PAYMENT, schema=schema_of(PAYMENT))

    reads_bob.send(interrupt, "approve", {"args/amount": "31"})

    assert sent(interrupt) == {"approved": True, "editedArgs": {**PAYMENT, "amount": 31}}


def test_edit_button_shows_the_field_without_javascript(propose, reads_bob):
    interrupt = propose("transfer", PAYMENT, schema=schema_of(PAYMENT))
    post = reads_bob.form(interrupt).post().copy()
    post["draft"] = "edit:amount"

    page = reads_bob.post(interrupt, post, "").content.decode()

    assert page.count('class="value-form" hidden') == len(PAYMENT) - 1
    assert re.search(r'name="editing" value="amount">', page)


def test_form_button_shows_all_fields_and_read_hides_the_unchanged(propose, reads_bob):
    interrupt = propose("transfer", PAYMENT, schema=schema_of(PAYMENT))
    form = reads_bob.form(interrupt)
    form.fill("args/amount", "31")
    post = form.post().copy()
    post["draft"] = "tab:form:args"
    as_form = reads_bob.post(interrupt, post, "").content.decode()
    post["draft"] = "tab:read:args"

    to_read = reads_bob.post(interrupt, post, "").content.decode()

    assert 'class="value-form" hidden' not in as_form
    assert to_read.count('class="value-form" hidden') == len(PAYMENT) - 1


def test_field_with_a_problem_is_visible(propose, reads_bob):
    interrupt = propose("transfer", PAYMENT, schema=schema_of(PAYMENT))

    refused = reads_bob.send(interrupt, "approve", {"args/amount": "a lot"})

    page = refused.content.decode()
    assert refused.status_code == 422
    assert page.count('class="value-form" hidden') == len(PAYMENT) - 1


def test_changed_values_of_a_decided_request_are_from_and_to(propose, reads_bob):
    interrupt = propose("transfer", PAYMENT, schema=schema_of(PAYMENT))
    reads_bob.send(interrupt, "approve", {"args/amount": "31"})

    page = text_of(reads_bob, interrupt)

    assert "Proposed: 310 → Approved: 31" in page
    assert "31031" not in page


def test_author_declares_risk_facts_and_labels(propose, reads_bob):
    present = Present(
        severity="high",
        reversible=False,
        summary="In short: it is due.",
        values={"note": Value(label="Reference")},
        facts=[Fact("Budget left", 5000, type="money", unit="EUR")],
        sections=[Section("History", [Fact("Paid before", ["KG-1", "KG-2"])])],
    )
    interrupt = propose("transfer", PAYMENT, metadata=with_present({"ticket": "T-1"}, present))

    page = text_of(reads_bob, interrupt)

    for text in ("High risk", "Cannot be undone", "Reference", "€5,000.00", "History", "KG-2"):
        assert text in page
    assert "Ticket T-1" in page
    assert (interrupt.severity, interrupt.is_reversible) == ("high", False)


def test_unknown_words_of_the_author_are_shown(propose, reads_bob):
    metadata = {"signoff": {"present": {"mood": "fine", "severity": "terrible"}}}

    page = text_of(reads_bob, propose("transfer", PAYMENT, metadata=metadata))

    assert "Mood fine" in page
    assert "Severity terrible" in page


def test_presentation_is_part_of_the_view_digest(propose):
    plain = propose("transfer", PAYMENT)
    low, high = (
        propose("transfer", PAYMENT, metadata=with_present(None, Present(severity=severity)))
        for severity in ("low", "high")
    )

    digests = {row.view_digest for row in (plain, low, high)}

    assert len(digests) == 3
    assert {plain.view_version, low.view_version} == {2, 4}
    for row in InterruptRow.objects.all():
        assert row.digest_at_creation() == row.view_digest


def test_request_without_a_call_shows_its_metadata_as_values(world, as_agent, reads_bob):
    payload = {
        "action": "DELETE",
        "table": "users",
        "affectedRows": 42,
        "query": "DELETE FROM users",
        "rollbackPlan": "Restore the backup",
        "riskLevel": "high",
    }

    async def play(run_input, ctx):
        interrupt = Interrupt(
            id="i", reason="draft:database_modification", metadata={"draft": {"payload": payload}}
        )
        yield RunFinishedEvent(
            thread_id=run_input.thread_id,
            run_id=run_input.run_id,
            outcome=RunFinishedInterruptOutcome(interrupts=[interrupt]),
        )

    (interrupt,) = open_interrupts(start(world, "go", agent=as_agent(play)))

    page = reads_bob.open(interrupt)

    assert '<span class="hl-k">DELETE</span>' in page
    assert "High risk" in page
    assert "Affected rows 42" in text_of(reads_bob, interrupt)


def test_mail_marks_recipients_outside_of_the_company(propose, reads_bob, settings):
    settings.COMPANY_DOMAINS = frozenset({"example.com"})
    mail = {"to": "eve@evil.test", "cc": ["ana@example.com"], "subject": "Hi", "body": "Text"}

    page = text_of(reads_bob, propose("send_email", mail))

    assert "Outside of the company eve@evil.test" in page
    assert page.count("Outside of the company") == 1


def test_secrets_are_masked_in_facts(propose, reads_bob):
    interrupt = propose("login", {"user": "ana", "password": "correct horse battery"})

    page = reads_bob.open(interrupt)

    assert "correct horse battery" not in page


@pytest.mark.parametrize(
    "args",
    [
        {"value": {"deep": [{"er": [{"est": 1}]}]}},
        {"rows": [{"a": 1, "b": "x"}, {"a": 2}]},
        {"": "empty name", "a/b": 1, "@on": "x", "~": 2},
        {"amount": "not a number", "currency": ["EUR"], "recipient": {"name": "Ana"}},
        {"command": ["rm", "-rf", "/"], "cwd": None},
        {"patch": "@@ -1 +1 @@\n-a\n+b", "path": 5},
        {"query": {"select": "x"}},
        {"to": [1, None, {"a": "b"}], "subject": 5, "body": {"text": "x"}},
        {"old_string": 5, "new_string": ["x"], "file_path": "a.py"},
    ],
    ids=range(9),
)
@pytest.mark.parametrize(
    "tool", ["send_email", "transfer", "run_sql", "edit", "update_dns", "deploy"]
)
def test_values_of_any_shape_are_shown_and_approved_untouched(propose, reads_bob, tool, args):
    interrupt = propose(tool, args)

    page = reads_bob.get(f"/interrupts/{interrupt.pk}/")
    reads_bob.send(interrupt, "approve")

    assert page.status_code == 200
    assert sent(interrupt) == {"approved": True}


CHOICES = [
    ({"enum": ["red", "green"]}, "green"),
    ({"oneOf": [{"const": 1, "title": "One"}, {"const": 2, "title": "Two"}]}, 2),
    (
        {
            "type": "object",
            "properties": {"colour": {"enum": ["red", "green"]}},
            "required": ["colour"],
        },
        {"colour": "green"},
    ),
]


@pytest.fixture
def question(world, as_agent):
    """Let an agent ask for an answer that fits a schema; returns the interrupt."""

    def question(schema: Any) -> Any:
        async def play(run_input, ctx):
            interrupt = Interrupt(
                id="i", reason="input_required", message="Which?", response_schema=schema
            )
            yield RunFinishedEvent(
                thread_id=run_input.thread_id,
                run_id=run_input.run_id,
                outcome=RunFinishedInterruptOutcome(interrupts=[interrupt]),
            )

        return open_interrupts(start(world, "go", agent=as_agent(play)))[0]

    return question


@pytest.mark.parametrize(("schema", "answer"), CHOICES, ids=["enum", "oneOf", "object"])
def test_question_with_a_few_choices_has_a_button_for_each(question, reads_bob, schema, answer):
    interrupt = question(schema)
    buttons = re.findall(r'value="(option:[^"]*)"', reads_bob.open(interrupt))

    reads_bob.send(interrupt, buttons[1])

    assert len(buttons) == 2
    assert sent(interrupt) == answer


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": [str(number) for number in range(7)]},
        {"enum": ["only"]},
        {"enum": ["x" * 61, "y"]},
        {"type": "object", "properties": {"colour": {"enum": ["red", "green"]}}},
        {"type": "string"},
    ],
    ids=range(5),
)
def test_other_questions_have_a_form(question, reads_bob, schema):
    page = reads_bob.open(question(schema))

    assert 'value="option:' not in page
    assert 'value="answer"' in page


def test_unknown_option_is_refused(question, reads_bob):
    interrupt = question({"enum": ["red", "green"]})

    refused = reads_bob.send(interrupt, "option:9")

    assert refused.status_code == 422
    assert not interrupt.decisions.exists()
