"""Agents write what they like; pages show it as text, all of it, and run none of it."""

import html
import json
import re

import pytest
from ag_ui.core import (
    Interrupt,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)

from agents.agui.interrupts import approval_schema
from inbox.rules.text.safe_text import escape_invisible, json_text
from inbox.rules.text.unicode_spoofing import find_spoofing
from tests.support.steps import open_interrupts, reread, start
from tests.support.web.pages import decision_form, sent, words

PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</textarea><script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "{{ 7|add:7 }}{% debug %}",
    "javascript:alert(1)",
    "'-alert(1)-'",
]


@pytest.fixture
def hostile(world, as_agent):
    """Let an agent write `text` wherever it can write anything, or `args` for the tool."""

    def ask(text, args=None):
        async def play(run_input, ctx):
            yield TextMessageStartEvent(message_id="m", role="assistant")
            yield TextMessageContentEvent(message_id="m", delta=text)
            yield TextMessageEndEvent(message_id="m")
            yield ToolCallStartEvent(tool_call_id="t", tool_call_name=text, parent_message_id="m")
            yield ToolCallArgsEvent(tool_call_id="t", delta=json.dumps(args or {text: text}))
            yield ToolCallEndEvent(tool_call_id="t")
            interrupt = Interrupt(
                id="i",
                reason="tool_call",
                message=f"{text}\n{text}",
                tool_call_id="t",
                response_schema=approval_schema(edited_args={"type": "object"}),
                metadata={text: text},
            )
            yield RunFinishedEvent(
                thread_id=run_input.thread_id,
                run_id=run_input.run_id,
                outcome=RunFinishedInterruptOutcome(interrupts=[interrupt]),
            )

        return open_interrupts(start(world, text, agent=as_agent(play)))[0]

    return ask


@pytest.mark.parametrize("text", PAYLOADS)
def test_markup_stays_text_on_every_page(hostile, reads_bob, text):
    interrupt = hostile(text)
    paths = ("/", f"/interrupts/{interrupt.pk}/", "/runs/", f"/threads/{interrupt.thread_id}/")

    for path in paths:
        page = reads_bob.get(path).content.decode()
        for tag in ("<script>alert", "<img", "<svg onload"):
            assert tag not in page
        assert text in html.unescape(page)


@pytest.mark.parametrize("text", PAYLOADS)
def test_arguments_survive_the_form_byte_for_byte(hostile, reads_bob, text):
    interrupt = hostile(text)

    reads_bob.send(interrupt, "approve")

    assert sent(interrupt) == {"approved": True}
    assert json.loads(interrupt.args) == {text: text}


@pytest.mark.parametrize("text", PAYLOADS)
def test_refused_text_of_a_reviewer_stays_text(hostile, reads_bob, text):
    interrupt = hostile("harmless")

    response = reads_bob.send(interrupt, "approve", as_json={"args": text}, reason=text)

    assert response.status_code == 422
    page = response.content.decode()
    assert decision_form(page).control("args.json").value == text
    assert "<script>alert" not in page


@pytest.mark.parametrize("text", PAYLOADS)
def test_changes_of_a_reviewer_stay_text(hostile, reads_bob, text):
    interrupt = hostile("harmless")

    response = reads_bob.send(interrupt, "approve", {"args/harmless": text}, draft="look")

    assert "Approve with 1 change" in words(response)
    assert "<script>alert" not in response.content.decode()


def test_hidden_characters_are_spelled_out_and_pointed_at(hostile, reads_bob):
    interrupt = hostile("pay \u202e100\u200b to eve")

    page = reads_bob.open(interrupt)
    # A control holds the value as it is, so that it can be sent untouched.
    text = re.sub(r' value="[^"]*"', "", page)

    assert "\u202e" not in text
    assert "\u200b" not in text
    assert "⟨U+202E⟩" in page
    assert "Suspicious characters" in page
    assert "U+202E RIGHT-TO-LEFT OVERRIDE" in page


def test_what_deceives_is_not_approved_before_somebody_has_looked_at_it(hostile, reads_bob):
    interrupt = hostile("pay \u202e100")

    response = reads_bob.send(interrupt, "approve")

    assert response.status_code == 422
    assert 'href="#f-seen"' in response.content.decode()
    assert reread(interrupt).status == "open"


def test_what_deceives_can_be_rejected_unseen(hostile, reads_bob):
    interrupt = hostile("pay \u202e100")

    reads_bob.send(interrupt, "reject")

    assert sent(interrupt) == {"approved": False}


def test_arguments_with_hidden_characters_are_untouched_when_untouched(hostile, reads_bob):
    interrupt = hostile("a\u202eb\x7fc\U000e0041d")

    reads_bob.send(interrupt, "approve", seen="on")

    assert sent(interrupt) == {"approved": True}


def test_a_long_argument_is_not_approved_before_it_was_opened(hostile, reads_bob):
    interrupt = hostile("harmless", {"body": "a long word " * 300})

    refused = reads_bob.send(interrupt, "approve")
    form = reads_bob.form(interrupt)
    (fold,) = {control.attributes["value"] for control in form.controls if control.name == "opened"}
    reads_bob.send(interrupt, "approve", opened=fold)

    assert refused.status_code == 422
    assert f'href="#{fold}"' in refused.content.decode()
    assert sent(interrupt) == {"approved": True}


@pytest.mark.parametrize(
    ("value", "hides"),
    [
        ("plain\ttext\nand lines", False),
        ("windows\r\nlines", False),
        ("Grüße, 你好, 🎉", False),
        ("left\u202eright", True),
        ("zero\u200bwidth", True),
        ("bell\x07", True),
        ("lone\rreturn", True),
        ("tag\U000e0041", True),
        ("private\ue000", True),
        ("line\u2028separator", True),
    ],
)
def test_what_cannot_be_seen_is_found_and_kept_in_json(value, hides):
    assert bool(find_spoofing(value)) is hides
    assert ("⟨U+" in escape_invisible(value)) is hides
    assert json.loads(json_text(value)) == value
    assert not find_spoofing(json_text(value))
