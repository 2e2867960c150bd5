"""Questions without a response schema: what their words ask for, and which answers fit."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from inbox.rules.decisions.consent import SIGNOFF, canonical_json
from inbox.rules.errors import InvalidPayload
from inbox.rules.runs.states import Reason
from inbox.rules.schema.answer_forms import answer_form
from inbox.rules.schema.schemas import YES_NO_OR_TEXT
from inbox.rules.text.messages import TranslatableMessage

#: The member of `metadata.signoff` with the schema of an agent whose answers are translated.
AGENT_SCHEMA: Final = "agentSchema"
MAX_OPTIONS: Final = 100
MAX_OPTION_CHARACTERS: Final = 500
#: Reasons that have a schema of their own.
_WITH_SCHEMA: Final = (Reason.TOOL_CALL, Reason.CONFIRMATION, Reason.OUTCOME_UNKNOWN)
_VERB: Final = r"approv|authori[sz]|confirm|\ballow|permission|permit|proceed"
#: Names of the kind of a question.
_KIND: Final = re.compile(_VERB, re.IGNORECASE)
_SENTENCE: Final = re.compile(
    rf"{_VERB}|\bgo ahead\b|\bshall (i|we)\b|\bmay (i|we)\b|\bshould (i|we)\b|\bok(ay)? to\b"
    r"|\b(do|would) you (agree|accept|want (me|us) to|like (me|us) to)\b|\bis (this|that|it) ok",
    re.IGNORECASE,
)
#: A question for something else than yes or no.
_OPEN: Final = re.compile(
    r"\s*(what|which|who|whom|whose|where|when|why|how)\b|.*\bor\b[^?]*\?",
    re.IGNORECASE | re.DOTALL,
)
#: "Please approve the transfer.", but not "Please confirm the number of copies."
_REQUEST: Final = re.compile(r"\s*(please\s+)?(approve|authori[sz]e|allow|permit)\b", re.IGNORECASE)
_QUESTION: Final = re.compile(r"[^.!?\n]*\?")
_MAX_SENTENCE: Final = 2_000
_NO: Final = frozenset(
    (
        *("no", "n", "nope", "false", "never", "stop", "cancel", "reject", "rejected", "deny"),
        *("denied", "decline", "declined", "disapprove", "disapproved", "don't", "do not"),
        *("not approved", "no thanks", "abort", "refuse", "refused", "nein", "non"),
    )
)


def with_answer_schema(interrupt: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return an AG-UI Interrupt with a response schema if its agent sent none and its words need one.

    `options` are the only answers. A question that asks to approve takes yes (true), no (false) or
    a text, because agents test the answer for truth, and the text "no" is true.
    """
    body = dict(interrupt)
    metadata = _object(body.get("metadata"))
    has_files = "files" in _object(metadata.get(SIGNOFF))
    if "responseSchema" in body or body.get("reason") in _WITH_SCHEMA or has_files:
        return body
    values = list(_values(metadata))
    schema = next(filter(None, (_choices(value.get("options")) for value in values)), None)
    if schema is None and _asks_to_approve(body, values):
        schema = YES_NO_OR_TEXT
    return body if schema is None else {**body, "responseSchema": schema}


def with_approval_schema(interrupt: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return an AG-UI Interrupt that is answered by `approved`.

    The schema of an agent with another form of approvals moves to `metadata.signoff.agentSchema`.
    """
    body = dict(interrupt)
    schema = body.get("responseSchema")
    form = answer_form(schema) if body.get("reason") == Reason.TOOL_CALL else None
    if form is None or schema is None:
        return body
    metadata = dict(_object(body.get("metadata")))
    signoff = {**_object(metadata.get(SIGNOFF)), AGENT_SCHEMA: schema}
    return {
        **body,
        "responseSchema": form.schema(schema),
        "metadata": {**metadata, SIGNOFF: signoff},
    }


def agent_schema_of(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the agent's own schema of an interrupt whose answers are translated."""
    schema = _object(_object(body.get("metadata")).get(SIGNOFF)).get(AGENT_SCHEMA)
    return schema if isinstance(schema, Mapping) else None


def check_no_denial_in_words(*, schema: Mapping[str, Any] | None, payload: Any) -> None:
    """Raise InvalidPayload for a text that says no to a question that asks to approve."""
    if schema != YES_NO_OR_TEXT or not isinstance(payload, str):
        return
    if payload.strip().rstrip(".!").casefold() in _NO:
        message = TranslatableMessage(
            "The agent may take the text \u201c{text}\u201d for a yes. Answer No (false), or write "
            "a sentence.",
            text=payload.strip(),
        )
        raise InvalidPayload(message, problems=[{"pointer": "", "message": message}])


def _values(metadata: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in which agents and readers of dialects say what the question is about."""
    yield metadata
    for name in ("langgraph", "mastra"):
        framework = _object(metadata.get(name))
        yield from (_object(framework.get(member)) for member in ("value", "raw"))
    yield _object(_object(metadata.get("draft")).get("payload"))


def _asks_to_approve(body: Mapping[str, Any], values: list[Mapping[str, Any]]) -> bool:
    kinds = [
        body.get("reason"),
        *(value.get(name) for value in values for name in ("kind", "type")),
    ]
    if any(isinstance(kind, str) and _KIND.search(kind) for kind in kinds):
        return True
    texts = [body.get("message"), *(value.get("question") for value in values)]
    return any(isinstance(text, str) and _is_approval_sentence(text) for text in texts)


def _is_approval_sentence(text: str) -> bool:
    """Return whether one of the questions in a text, or its first words, ask to approve."""
    text = text[:_MAX_SENTENCE]
    if _REQUEST.match(text) and "?" not in text:
        return True
    questions = _QUESTION.findall(text)
    return any(_SENTENCE.search(each) and not _OPEN.match(each) for each in questions)


def _choices(options: Any) -> dict[str, Any] | None:
    """Return a schema for one of the options; None if they are not texts or labelled values."""
    if not isinstance(options, list) or not 1 <= len(options) <= MAX_OPTIONS:
        return None
    choices = [_choice(option) for option in options]
    if None in choices or len(
        {canonical_json(choice["const"]) for choice in choices if choice}
    ) < len(options):
        return None
    return {"oneOf": choices}


def _choice(option: Any) -> dict[str, Any] | None:
    if isinstance(option, str):
        option = {"label": option, "value": option}
    label = _object(option).get("label")
    value = option.get("value", label) if isinstance(label, str) else None
    is_short = isinstance(value, bool | int) or (
        isinstance(value, str) and 0 < len(value) <= MAX_OPTION_CHARACTERS
    )
    if not (is_short and label and len(label) <= MAX_OPTION_CHARACTERS):
        return None
    return {"const": value, "title": label}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
