"""Agents write what they like; pages show it as text, all of it, and run none of it."""

import html
import json

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

from inbox.web.shown import has_hidden, json_text, visible
from tests.steps import open_interrupts, start
from tests.web.pages import sent, textarea

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
    """Let an agent write `text` wherever it can write anything."""

    def ask(text):
        async def play(run_input, ctx):
            yield TextMessageStartEvent(message_id="m", role="assistant")
            yield TextMessageContentEvent(message_id="m", delta=text)
            yield TextMessageEndEvent(message_id="m")
            yield ToolCallStartEvent(tool_call_id="t", tool_call_name=text, parent_message_id="m")
            yield ToolCallArgsEvent(tool_call_id="t", delta=json.dumps({text: text}))
            yield ToolCallEndEvent(tool_call_id="t")
            interrupt = Interrupt(
                id="i",
                reason="tool_call",
                message=f"{text}\n{text}",
                tool_call_id="t",
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
    paths = ("/", f"/interrupts/{interrupt.pk}/", "/threads/", f"/threads/{interrupt.thread_id}/")

    for path in paths:
        page = reads_bob.get(path).content.decode()
        for tag in ("<script>alert", "<img", "<svg onload"):
            assert tag not in page
        assert text in html.unescape(page)


@pytest.mark.parametrize("text", PAYLOADS)
def test_arguments_survive_the_form_byte_for_byte(hostile, reads_bob, text):
    interrupt = hostile(text)

    assert json.loads(textarea(reads_bob.open(interrupt), "args")) == {text: text}
    reads_bob.send(interrupt, "approve")

    assert sent(interrupt) == {"approved": True}


@pytest.mark.parametrize("text", PAYLOADS)
def test_refused_text_of_a_reviewer_stays_text(hostile, reads_bob, text):
    interrupt = hostile("harmless")

    response = reads_bob.send(interrupt, "approve", args=text, reason=text)

    assert response.status_code == 422
    assert textarea(response.content.decode(), "args") == text
    assert "<script>alert" not in response.content.decode()


def test_hidden_characters_are_spelled_out_and_pointed_at(hostile, reads_bob):
    interrupt = hostile("pay \u202e100\u200b to eve")

    page = reads_bob.open(interrupt)

    assert "\u202e" not in page
    assert "\u200b" not in page
    assert "⟨U+202E⟩" in page
    assert "Hidden characters" in page
    assert "\\u202e" in textarea(page, "args")


def test_arguments_with_hidden_characters_are_untouched_when_untouched(hostile, reads_bob):
    interrupt = hostile("a\u202eb\x7fc\U000e0041d")

    reads_bob.send(interrupt, "approve")

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
    assert has_hidden(value) is hides
    assert ("⟨U+" in visible(value)) is hides
    assert json.loads(json_text(value)) == value
    assert not has_hidden(json_text(value))
