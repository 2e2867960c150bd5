"""Texts that deceive are found wherever a page shows them, and ordinary ones are left alone."""

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

from inbox.rules.text.unicode_spoofing import find_spoofing
from tests.support.security.deceptions import ORDINARY, deceptions
from tests.support.steps import open_interrupts, start

DECEPTIONS = deceptions()
FIELDS = (
    *("message", "said", "tool", "key", "value", "secret", "metakey", "metavalue", "metasecret"),
    *("title", "description", "enum", "default", "user", "thread", "run"),
)
TEXTS = [(language, text) for language, texts in ORDINARY.items() for text in texts]


def test_there_are_two_hundred_deceptions_and_ordinary_texts():
    assert len(DECEPTIONS) >= 200
    assert len(TEXTS) >= 200
    assert len(ORDINARY) >= 12


@pytest.mark.parametrize("text", DECEPTIONS.values(), ids=DECEPTIONS.keys())
def test_deception_is_found(text):
    assert find_spoofing({"args": {"note": text}})


@pytest.mark.parametrize(("language", "text"), TEXTS, ids=range(len(TEXTS)))
def test_ordinary_text_is_not_suspected(language, text):
    assert find_spoofing({"message": text}) == []


@pytest.mark.parametrize("language", ORDINARY)
def test_ordinary_texts_beside_english_keys_are_not_suspected(language):
    assert find_spoofing({"arguments": {"items": ORDINARY[language], "amount": 5}}) == []


@pytest.fixture
def ask(world, as_agent):
    """Ask for an approval; the field of this name carries the text."""

    def ask_with(field, text):
        def written(name, plain=""):
            return text if name == field else plain or name

        schema = {
            "type": "object",
            "title": written("title"),
            "properties": {
                "approved": {"type": "boolean", "description": written("description")},
                "choice": {"enum": [written("enum"), "b"], "default": written("default", "b")},
            },
        }
        args = {written("key"): 1, "note": written("value"), "token": written("secret")}
        metadata = {written("metakey"): written("metavalue"), "password": written("metasecret")}

        async def play(run_input, ctx):
            yield TextMessageStartEvent(message_id="m", role="assistant")
            yield TextMessageContentEvent(message_id="m", delta=written("said"))
            yield TextMessageEndEvent(message_id="m")
            yield ToolCallStartEvent(tool_call_id="t", tool_call_name=written("tool"))
            yield ToolCallArgsEvent(tool_call_id="t", delta=json.dumps(args))
            yield ToolCallEndEvent(tool_call_id="t")
            interrupt = Interrupt(
                id="i",
                reason="tool_call",
                tool_call_id="t",
                message=written("message"),
                metadata=metadata,
                response_schema=schema,
            )
            yield RunFinishedEvent(
                thread_id=run_input.thread_id,
                run_id=run_input.run_id,
                outcome=RunFinishedInterruptOutcome(interrupts=[interrupt]),
            )

        ids = {"thread_id": written("thread"), "run_id": written("run")}
        (interrupt,) = open_interrupts(start(world, written("user"), agent=as_agent(play), **ids))
        return interrupt

    return ask_with


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("text", ["admin\u200b", "p\u0430ypal.com"], ids=["hidden", "lookalike"])
def test_page_has_a_notice_of_a_deception_in_any_field(ask, reads_bob, field, text):
    interrupt = ask(field, text)

    page = reads_bob.get(f"/interrupts/{interrupt.pk}/").content.decode()

    assert "Suspicious characters" in page


def test_page_without_deceptions_has_no_notice(ask, reads_bob):
    interrupt = ask("", "")

    page = reads_bob.get(f"/interrupts/{interrupt.pk}/").content.decode()

    assert "Suspicious characters" not in page


def test_notice_does_not_tell_what_is_masked(ask, reads_bob):
    interrupt = ask("secret", "p\u0430ypal.com")

    page = reads_bob.get(f"/interrupts/{interrupt.pk}/").content.decode()

    assert "p\u0430ypal.com" not in page
