"""Whatever agents and clients write is shown as text: in every field, on every page that has it."""

import html
import json
from html.parser import HTMLParser

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

from inbox.rules.text.safe_text import escape_invisible, json_text
from tests.support.steps import answer, open_interrupts, start

PAYLOADS = {
    "script": "<script>alert(1)</script><script src=//evil.example></script>",
    "attribute": "\"'><img src=x onerror=alert(1) a='",
    "text area": "</textarea></title></style><svg onload=alert(1)>",
    "comment": "<!-- --!><iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "form": "<form action=//evil.example><button formaction=javascript:alert(1)>",
    "base": "<base href=//evil.example><meta http-equiv=refresh content='0;url=//evil.example'>",
    "template": "{{ 7|add:7 }}{% debug %}{% lorem %}{# no #}",
    "format": "%s %(x)s {0} {x.__class__} ${7*7} #{7*7}",
    "htmx": "<div hx-get=//evil.example hx-trigger=load data-hx-on:load=alert(1)></div>",
    "entities": "&lt;b&gt; &#60;b&#62; &amp;lt;script&amp;gt;",
    "bidi": "pay \u202e001\u202c\u2066eve\u2069 \u200b\u200f",
    "controls": "a\x07b\x1b[31mc\x7fd\u2028e\u0085f",
    "javascript": "javascript:alert(1)//data:text/html,<script>alert(1)</script>",
    "long": "W" * 3_000,
    "combining": "Z" + "\u0335\u0340" * 60,
}
#: The schema of an approval that takes other arguments.
NAMES_EDITS = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "editedArgs": {"type": "object"}},
    "required": ["approved"],
}
#: What each field begins with, so that it is found on the pages that show it.
FIELDS = (
    *("message", "said", "tool", "key", "value", "reason", "metakey", "metavalue"),
    *("title", "description", "enum", "default", "user"),
)
#: Nothing of an agent's may become one of these.
FORBIDDEN_TAGS = {"iframe", "img", "base", "object", "embed", "audio", "video", "math"}
HIDDEN = set("\u202e\u2066\u200b\x07\x1b\x7f\u2028")
ADDRESSES = {"href", "src", "action", "formaction", "xlink:href"}


class Markup(HTMLParser):
    """Finds what a browser would run, load or follow."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        names = dict(attributes)
        if tag in FORBIDDEN_TAGS or (tag == "script" and not _is_own(names.get("src") or "")):
            self.found.append(tag)
        for name, value in attributes:
            if name.startswith("on") or name in (
                "style",
                "srcdoc",
                "http-equiv",
                "data-hx-on:load",
            ):
                self.found.append(f"{tag} {name}")
            if name in ADDRESSES and not _is_own(value or ""):
                self.found.append(f"{tag} {name}={value}")


def _is_own(address):
    return address.startswith(("/", "?", "#")) and not address.startswith("//")


@pytest.fixture
def ask_with_text(world, as_agent):
    """Write the text into every field of a run that ends with a tool call and a question."""

    def ask(text, id_text=None):
        def hostile(field):
            return f"{field}7 {text}"

        schema = {
            "type": "object",
            "title": hostile("title"),
            "description": hostile("description"),
            "properties": {
                "choice": {"enum": [hostile("enum"), "b"], "default": hostile("default")}
            },
        }

        async def play(run_input, ctx):
            yield TextMessageStartEvent(message_id="m", role="assistant")
            yield TextMessageContentEvent(message_id="m", delta=hostile("said"))
            yield TextMessageEndEvent(message_id="m")
            yield ToolCallStartEvent(tool_call_id="t", tool_call_name=hostile("tool")[:64])
            args = json.dumps({hostile("key"): hostile("value")})
            yield ToolCallArgsEvent(tool_call_id="t", delta=args)
            yield ToolCallEndEvent(tool_call_id="t")
            metadata = {hostile("metakey"): hostile("metavalue")}
            about_call = Interrupt(
                id="call",
                reason="tool_call",
                tool_call_id="t",
                message=hostile("message"),
                metadata=metadata,
                response_schema=NAMES_EDITS,
            )
            question = Interrupt(
                id=hostile("id")[:190],
                reason=hostile("reason")[:64],
                message=hostile("message"),
                metadata=metadata,
                response_schema=schema,
            )
            outcome = RunFinishedInterruptOutcome(interrupts=[about_call, question])
            yield RunFinishedEvent(
                thread_id=run_input.thread_id, run_id=run_input.run_id, outcome=outcome
            )

        id_text = text if id_text is None else id_text
        ids = {"thread_id": f"{id_text} thread"[:200], "run_id": f"{id_text} run"[:200]}
        run = start(world, hostile("user"), agent=as_agent(play), **ids)
        call, question = open_interrupts(run)
        return run, call, question

    return ask


def pages_of(reader, run, *interrupts):
    paths = ["/", "/decided/", "/runs/", f"/threads/{run.thread_id}/"]
    for row in interrupts:
        paths += [f"/interrupts/{row.pk}/", f"/decided/{row.pk}/", f"/similar/{row.pk}/"]
    responses = {path: reader.get(path) for path in paths}
    assert {page.status_code for page in responses.values()} == {200}
    return {path: page.content.decode() for path, page in responses.items()}


def assert_only_text(pages):
    for path, page in pages.items():
        assert Markup(page).found == [], path
        assert [line for line in page.split("\n") if HIDDEN & set(line)] == [], path


@pytest.mark.parametrize("text", PAYLOADS.values(), ids=PAYLOADS.keys())
def test_no_page_runs_or_loads_what_an_agent_wrote(ask_with_text, reads_bob, bob, text):
    run, call, question = ask_with_text(text, "".join(char for char in text if char not in HIDDEN))

    before = pages_of(reads_bob, run, call, question)
    answer(call, bob, {"approved": False, "reason": f"note7 {text}"})
    answer(question, bob, {"choice": f"enum7 {text}"})
    after = pages_of(reads_bob, run, call, question)

    assert_only_text(before)
    assert_only_text(after)
    assert "note7" in after[f"/decided/{call.pk}/"]


@pytest.mark.parametrize("text", PAYLOADS.values(), ids=PAYLOADS.keys())
def test_what_an_agent_wrote_is_shown_letter_for_letter(ask_with_text, reads_bob, text):
    run, call, question = ask_with_text(text)

    pages = pages_of(reads_bob, run, call, question)
    texts = {path: html.unescape(page) for path, page in pages.items()}
    of_call, of_question = texts[f"/interrupts/{call.pk}/"], texts[f"/interrupts/{question.pk}/"]

    spelled, as_json = escape_invisible(text), json_text(text)[1:-1]
    assert f"message7 {spelled}" in of_call
    assert f"said7 {spelled}" in of_call
    assert f"said7 {spelled}" in texts[f"/threads/{run.thread_id}/"]
    assert f"user7 {spelled}" in texts[f"/threads/{run.thread_id}/"]
    for field in ("metakey", "metavalue"):
        # Facts: the name as a label, and the value as text.
        assert f"{field}7 {spelled}".casefold() in of_call.casefold(), field
    # A label is spelled out; a value is in a control if that can hold it, and else JSON in one.
    assert f"key7 {spelled}" in of_call
    assert f"value7 {text}" in of_call or f"value7 {as_json}" in of_call
    for field in ("title", "description", "enum", "default"):
        assert f"{field}7 {as_json}" in of_question, field
    for page in (of_call, of_question):
        assert "tool7" in page or "reason7" in page
    assert escape_invisible(run.thread.external_id) in texts[f"/threads/{run.thread_id}/"]
    assert "message7" in texts["/"]


@pytest.mark.parametrize("text", PAYLOADS.values(), ids=PAYLOADS.keys())
def test_what_a_reviewer_typed_is_text_when_it_comes_back(ask_with_text, reads_bob, text):
    _, call, question = ask_with_text("harmless")

    refused = [
        reads_bob.send(call, "approve", as_json={"args": text}, reason=text),
        reads_bob.send(question, "answer", as_json={"answer": text}),
    ]
    response = reads_bob.send(call, "approve", {"args/key7%20harmless": text}, draft="look")

    assert [back.status_code for back in (*refused, response)] == [422, 422, 200]
    for back in (*refused, response):
        assert Markup(back.content.decode()).found == []


@pytest.mark.parametrize("text", PAYLOADS.values(), ids=PAYLOADS.keys())
def test_an_address_or_a_name_that_is_typed_comes_back_as_text(client, db, text):
    signing_in = client.post("/login/?next=/x", {"username": text[:150], "password": "p"})
    elsewhere = client.get("/login/", {"next": text})

    for page in (signing_in, elsewhere):
        assert Markup(page.content.decode()).found == []


@pytest.mark.parametrize("name", ["bidi", "controls"])
def test_an_id_with_hidden_characters_has_them_spelled_out(ask_with_text, reads_bob, name):
    run, call, question = ask_with_text("harmless", PAYLOADS[name])

    assert_only_text(pages_of(reads_bob, run, call, question))
