import json

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
from tests.support.steps import (
    open_interrupts,
    reread,
    resumed_run,
    start,
)
from tests.support.web.pages import input_value, sent, words


@pytest.fixture
def propose(world, as_agent):
    """Let an agent ask about one call; returns the interrupt."""

    def ask_about(**about):
        async def play(run_input, _context):
            yield ToolCallStartEvent(tool_call_id="t", tool_call_name="pay")
            yield ToolCallArgsEvent(tool_call_id="t", delta='{"amount": 1}')
            yield ToolCallEndEvent(tool_call_id="t")
            interrupt = Interrupt(id="i", reason="tool_call", tool_call_id="t", **about)
            yield RunFinishedEvent(
                thread_id=run_input.thread_id,
                run_id=run_input.run_id,
                outcome=RunFinishedInterruptOutcome(interrupts=[interrupt]),
            )

        return open_interrupts(start(world, "go", agent=as_agent(play)))[0]

    return ask_about


@pytest.mark.parametrize(
    "schema",
    [None, {"type": "object", "properties": {"approved": {"type": "boolean"}}}],
    ids=["no schema", "only approved"],
)
def test_arguments_can_be_edited_only_where_the_schema_names_edits(propose, reads_bob, schema):
    interrupt = propose(response_schema=schema)
    assert 'name="args' not in reads_bob.open(interrupt)

    refused = reads_bob.send(interrupt, "approve", **{"args/amount": "2"})
    response = reads_bob.send(interrupt, "approve")

    assert refused.status_code == 422
    assert "The arguments cannot be edited" in words(refused)
    assert response.status_code == 303
    assert sent(interrupt) == {"approved": True}


def test_a_changed_amount_is_shown_as_from_and_to(world, as_agent, reads_bob, propose):
    interrupt = propose(response_schema=approval_schema(edited_args={"type": "object"}))

    reads_bob.send(interrupt, "approve", {"args/amount": "31"})

    text = words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))
    assert "removed: 1 → added: 31" in text


def test_approving_untouched_arguments_sends_nothing_but_the_approval(ask, reads_bob):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve")

    assert (response.status_code, response.url) == (303, f"/?done={interrupt.pk}")
    assert sent(interrupt) == {"approved": True}


def test_the_next_request_opens_by_itself_and_says_what_was_done(world, reads_bob):
    first, second, _ = open_interrupts(start(world, "rehearse:parallel3"))

    response = reads_bob.send(first, "approve")
    page = reads_bob.get(response.url)

    assert response.url == f"/interrupts/{second.pk}/?done={first.pk}"
    assert f"Approved: {first.title}" in words(page)
    assert f'action="/interrupts/{first.pk}/withdraw"' in page.content.decode()


def test_result_message_is_not_shown_again_on_refresh(world, reads_bob):
    first, *_ = open_interrupts(start(world, "rehearse:parallel3"))

    page = reads_bob.get(reads_bob.send(first, "approve").url).content.decode()

    assert "done=" not in page.partition("data-url=")[2].partition(">")[0]


def test_a_decision_resumes_the_run_and_its_page_shows_the_result(ask, reads_bob):
    interrupt = ask("tool_call")
    reads_bob.send(interrupt, "approve")

    run = resumed_run(interrupt.run)

    assert run.status == "succeeded"
    page = reads_bob.get(f"/interrupts/{interrupt.pk}/")
    assert "You approved this" in words(page)
    assert '"executionCount": 1' in words(page)


def test_edited_arguments_are_sent_and_replace_those_of_the_agent(ask, reads_bob):
    interrupt = ask("tool_call")
    edited = {"to": "eli@example.com", "subject": "Your invoice"}

    reads_bob.send(interrupt, "approve", {"args/to": edited["to"], "reason": "wrong person"})

    assert sent(interrupt) == {"approved": True, "editedArgs": edited, "reason": "wrong person"}
    assert "You approved this with changes" in words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))


def test_arguments_may_be_edited_as_json(ask, reads_bob):
    interrupt = ask("tool_call")
    edited = {"to": "eli@example.com", "subject": "Two lines\nof subject"}

    reads_bob.send(interrupt, "approve", as_json={"args": json.dumps(edited, indent=4)})

    assert sent(interrupt) == {"approved": True, "editedArgs": edited}


def test_arguments_that_are_only_spelled_differently_are_not_an_edit(ask, reads_bob):
    interrupt = ask("tool_call")

    reads_bob.send(interrupt, "approve", as_json={"args": json.dumps(json.loads(interrupt.args))})

    assert sent(interrupt) == {"approved": True}


def test_rejecting_sends_the_reason_and_not_the_edits(ask, reads_bob):
    interrupt = ask("tool_call")

    reads_bob.send(interrupt, "reject", {"args/to": "", "reason": "too early"})

    assert sent(interrupt) == {"approved": False, "reason": "too early"}


def test_rejecting_without_a_reason_invents_none(ask, reads_bob):
    interrupt = ask("tool_call")

    reads_bob.send(interrupt, "reject")

    assert sent(interrupt) == {"approved": False}


FILING = {"quarter": "Q3", "year": 2025, "revenue": 1.5}


def test_a_schema_is_answered_by_its_form(ask, reads_bob):
    interrupt = ask("input_required")
    form = reads_bob.form(interrupt)
    (third,) = [
        control.attributes["value"]
        for control in form.controls
        if control.name == "answer/quarter" and control.attributes["value"].endswith("2")
    ]

    typed = {"answer/quarter": third, "answer/year": "2025", "answer/revenue": "1.5"}
    response = reads_bob.send(interrupt, "answer", typed)

    assert response.status_code == 303
    assert sent(interrupt) == FILING


def test_a_schema_may_be_answered_as_json(ask, reads_bob):
    interrupt = ask("input_required")

    response = reads_bob.send(interrupt, "answer", as_json={"answer": json.dumps(FILING)})

    assert response.status_code == 303
    assert sent(interrupt) == FILING


@pytest.mark.parametrize(("button", "answer"), [("yes", True), ("no", False)])
def test_a_yes_or_no_question_is_answered_by_a_button(ask, reads_bob, button, answer):
    interrupt = ask("confirmation")

    reads_bob.send(interrupt, button)

    assert sent(interrupt) is answer


@pytest.mark.parametrize("button", ["yes", "no"])
def test_only_what_asks_yes_or_no_is_answered_so(ask, reads_bob, button):
    for scenario in ("input_required", "tool_call", "custom_reason"):
        interrupt = ask(scenario)

        assert reads_bob.send(interrupt, button).status_code == 422
        assert reread(interrupt).status == "open"


def test_a_yes_or_no_question_has_no_answer_until_somebody_chooses(ask, reads_bob):
    interrupt = ask("confirmation")

    response = reads_bob.send(interrupt, "answer")

    assert response.status_code == 422
    assert reread(interrupt).status == "open"


@pytest.mark.parametrize("typed", ["yes", "true", "approve\nplease", "{bad json"])
def test_without_a_schema_text_is_sent_as_it_was_typed(ask, reads_bob, typed):
    interrupt = ask("custom_reason")

    reads_bob.send(interrupt, "answer", {"answer": typed})

    assert sent(interrupt) == typed


@pytest.mark.parametrize("typed", ["", "  "])
def test_without_a_schema_an_empty_box_is_no_answer(ask, reads_bob, typed):
    interrupt = ask("custom_reason")

    response = reads_bob.send(interrupt, "answer", {"answer": typed})

    assert response.status_code == 422
    assert reread(interrupt).status == "open"


@pytest.mark.parametrize("typed", ["", "{bad json"])
def test_without_a_schema_what_is_no_answer_is_not_sent(ask, reads_bob, typed):
    interrupt = ask("custom_reason")

    response = reads_bob.send(interrupt, "answer", as_json={"answer": typed})

    assert response.status_code == 422
    assert reread(interrupt).status == "open"
    assert typed in words(response)


def test_a_question_without_a_schema_may_be_answered_with_any_json(ask, reads_bob):
    interrupt = ask("custom_reason")

    reads_bob.send(interrupt, "answer", as_json={"answer": "[1, null]"})

    assert sent(interrupt) == [1, None]


def test_a_question_can_be_called_off(ask, reads_bob):
    interrupt = ask("input_required")

    reads_bob.send(interrupt, "cancel", {"answer/year": "half an ans"})

    assert reread(interrupt).status == "cancelled"
    assert "You cancelled this" in words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))


def test_the_page_counts_the_siblings_that_are_decided(world, reads_bob):
    first, second, third = open_interrupts(start(world, "rehearse:parallel3"))

    reads_bob.send(first, "approve")
    reads_bob.send(second, "reject")

    page = words(reads_bob.get(f"/interrupts/{third.pk}/"))
    assert "2 of 3 decided" in page
    assert "You rejected" in page


def test_an_htmx_request_is_sent_to_the_next_page(ask, reads_bob):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve", live=True)

    assert response["HX-Redirect"] == f"/?done={interrupt.pk}"
    assert f"Approved: {interrupt.title}" in words(response)


def test_a_draft_shows_the_changes_and_decides_nothing(ask, reads_bob):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve", {"args/to": "eli@example.com"}, draft="look")

    assert response.status_code == 200
    assert "Approve with 1 change" in words(response)
    assert "removed: dana@example.com → added: eli@example.com" in words(response)
    assert reread(interrupt).status == "open"


def test_changes_can_be_undone_by_hand(ask, reads_bob):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve", draft="look")

    changes = response.content.decode().partition('id="changes"')[2].partition("</section>")[0]
    assert "<ins" not in changes
    assert "Approve with" not in words(response)


def test_the_digest_of_what_was_shown_stands_with_the_decision(ask, reads_bob):
    interrupt = ask("tool_call")
    digest = input_value(reads_bob.open(interrupt), "view_digest")

    reads_bob.send(interrupt, "approve")

    assert interrupt.decisions.get().view_digest == digest


_CATEGORY = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "category": {"type": "string"}},
    "required": ["approved", "category"],
}
_REFUSED = {"properties": {"approved": {"const": False}}, "required": ["approved"]}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/Answer", "$defs": {"Answer": _CATEGORY}},
        {"allOf": [_CATEGORY]},
        {"properties": {"approved": {"type": "boolean"}}, "required": ["approved", "category"]},
        {"oneOf": [_CATEGORY, _REFUSED]},
        {"if": _REFUSED, "else": {"required": ["category"]}},
        {**_CATEGORY, "properties": {}, "patternProperties": {"^c": {"type": "string"}}},
    ],
    ids=["ref", "allOf", "only required", "oneOf", "else", "pattern"],
)
def test_whatever_an_approval_asks_for_besides_can_be_answered(propose, reads_bob, schema):
    interrupt = propose(response_schema=schema)

    without = reads_bob.send(interrupt, "approve")
    response = reads_bob.send(interrupt, "approve", as_json={"answer": '{"category": "rent"}'})

    assert without.status_code == 422
    assert response.status_code == 303
    assert sent(interrupt) == {"approved": True, "category": "rent"}


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"properties": {"approved": {"type": "boolean"}}, "required": ["approved"]}]},
        {"if": _REFUSED, "then": {"required": ["reason"]}},
    ],
)
def test_an_approval_that_asks_for_no_more_has_buttons_only(propose, reads_bob, schema):
    interrupt = propose(response_schema=schema)

    assert 'name="answer.tab"' not in reads_bob.open(interrupt)
    assert reads_bob.send(interrupt, "reject", reason="no").status_code == 303


@pytest.mark.parametrize(("action", "approved"), [("approve", True), ("reject", False)])
def test_the_constants_of_an_answer_go_with_the_button(propose, reads_bob, action, approved):
    properties = {
        "approved": {"type": "boolean"},
        "kind": {"const": "review"},
        "more": {"type": "string"},
    }
    interrupt = propose(
        response_schema={"properties": properties, "required": ["approved", "kind"]}
    )

    reads_bob.send(interrupt, action)

    assert sent(interrupt) == {"approved": approved, "kind": "review"}


def test_a_property_that_has_to_be_there_has_a_field(propose, reads_bob):
    schema = {"properties": {"approved": {"type": "boolean"}}, "required": ["approved", "category"]}
    interrupt = propose(response_schema=schema)

    reads_bob.send(interrupt, "approve", {"answer/category": '"rent"'})

    assert sent(interrupt) == {"approved": True, "category": "rent"}


@pytest.mark.parametrize("name", ["approved", "editedArgs"])
def test_the_button_that_is_pressed_decides_and_no_pair_of_that_name(propose, reads_bob, name):
    pairs = {"type": ["string", "boolean"]}
    interrupt = propose(response_schema={**_CATEGORY, "additionalProperties": pairs})
    post = reads_bob.form(interrupt).post().copy()
    post.update({"answer/category": "rent", "answer@rows": "0"})
    post.update({"answer@0@key": name, "answer@0": "false"})

    response = reads_bob.post(interrupt, post, "approve")

    assert response.status_code == 422
    assert reread(interrupt).status == "open"


def test_approval_with_a_custom_reason_is_decided_like_others(world, as_agent, reads_bob):
    from agents.examples.policy_hold import treasury

    (held,) = open_interrupts(start(world, "pay", agent=as_agent(treasury.run)))

    reads_bob.send(held, "approve", {"answer/costCentre": "4711", "reason": "fine"})

    assert sent(held) == {"approved": True, "costCentre": "4711", "reason": "fine"}
    assert "You approved this" in words(reads_bob.get(f"/decided/{held.pk}/"))


def test_more_changes_than_can_be_listed_are_said_to_be_more(ask, reads_bob):
    interrupt = ask("tool_call")
    many = json.dumps({"to": "x", "subject": "y", **{f"key {n}": n for n in range(700)}})

    response = reads_bob.send(interrupt, "approve", as_json={"args": many}, draft="look")

    assert "Approve with changes" in words(response)
    assert "The list is shortened" in words(response)


def test_a_long_constant_of_an_answer_is_opened_before_it_is_sent(world, as_agent, reads_bob):
    terms = "I accept all of it. " * 200
    schema = {"type": "object", "properties": {"terms": {"const": terms}}, "required": ["terms"]}

    (interrupt,) = open_interrupts(start(world, "sign", agent=as_agent(_asking(schema))))
    (fold,) = [
        control.attributes["value"]
        for control in reads_bob.form(interrupt).controls
        if control.name == "opened"
    ]

    refused = reads_bob.send(interrupt, "answer")
    reads_bob.send(interrupt, "answer", opened=fold)

    assert refused.status_code == 422
    assert sent(interrupt) == {"terms": terms}


def test_blank_form_without_required_fields_is_not_an_answer(world, as_agent, reads_bob):
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
    (interrupt,) = open_interrupts(start(world, "ask", agent=as_agent(_asking(schema))))

    response = reads_bob.send(interrupt, "answer")
    reads_bob.send(interrupt, "answer", as_json={"answer": "{}"})

    assert response.status_code == 422
    assert "Enter an answer." in words(response)
    assert sent(interrupt) == {}


def _asking(schema):
    """An agent that asks with this schema, and ends."""

    async def play(run_input, ctx):
        interrupt = Interrupt(id="i", reason="input_required", response_schema=schema)
        yield RunFinishedEvent(
            thread_id=run_input.thread_id,
            run_id=run_input.run_id,
            outcome=RunFinishedInterruptOutcome(interrupts=[interrupt]),
        )

    return play
