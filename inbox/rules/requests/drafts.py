"""The items that a program asks about at once, and their AG-UI interrupts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from agents.agui.interrupts import approval_schema
from inbox.rules import errors
from inbox.rules.decisions.consent import SIGNOFF
from inbox.rules.requests.execution import Execution
from inbox.rules.runs.states import Reason
from inbox.rules.schema.mask_agui import SECRETS
from inbox.rules.schema.schema_cost import SchemaRejected
from inbox.rules.schema.schemas import moved_schema, read_schema
from inbox.rules.text.messages import TranslatableMessage

MAX_BYTES, MAX_ITEMS, MAX_MESSAGES = 256 * 1024, 20, 50
#: The member of `metadata.signoff` that a program may send.
_PRESENT = "present"


@dataclass(frozen=True)
class ItemDraft:
    """One question; a call to approve if it has a `tool`."""

    item_id: str
    title: str = ""
    tool: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    may_edit: bool = False
    args_schema: Mapping[str, Any] | None = None
    answer_schema: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    execution: Execution = field(default_factory=Execution)


@dataclass(frozen=True)
class RequestDraft:
    """Everything that a program sends at once."""

    items: Sequence[ItemDraft]
    session: str = ""  #: "" for none
    session_title: str = ""
    requester: Mapping[str, str] | None = None  #: what the program says of itself
    messages: Sequence[Mapping[str, Any]] = ()
    expires_in: timedelta | None = None
    callback_url: str = ""
    references: Sequence[Mapping[str, str]] = ()
    secret_paths: Sequence[str] = ()
    attach: bool = False


def check_draft(draft: RequestDraft) -> None:
    """
    Raise unless the items can be asked; their shapes and sizes were checked before.

    Raises:
        InvalidValue: with the `problems` by field.
    """
    problems: dict[str, list[TranslatableMessage]] = {}
    ids = [item.item_id for item in draft.items]
    if len(set(ids)) < len(ids):
        problems["items"] = [TranslatableMessage("Two items have the same id.")]
    if draft.attach and not (draft.session and len(ids) == 1 and draft.items[0].tool):
        problems["attach"] = [
            TranslatableMessage("Only one call in a session can join an earlier request.")
        ]
    for item in draft.items:
        problems |= _item_problems(item)
    if not all(path.startswith("/") for path in draft.secret_paths):
        problems["secret_paths"] = [
            TranslatableMessage("A path in the arguments is a JSON Pointer, such as /password.")
        ]
    if repeated := [name for name in ids if name in _calls_in(draft.messages)]:
        problems["context"] = [
            TranslatableMessage(
                "The messages have a tool call with the id of the item {name}. Leave it out.",
                name=repeated[0],
            )
        ]
    errors.raise_for(problems)


def _item_problems(item: ItemDraft) -> dict[str, list[TranslatableMessage]]:
    problems = {}
    for name, schema in (("args_schema", item.args_schema), ("answer_schema", item.answer_schema)):
        if problem := _schema_problem(schema):
            problems[name] = [problem]
    # References of arguments to their own root are broken in the schema of the whole answer.
    if not problems and item.tool and (problem := _schema_problem(_response_schema(item))):
        problems["args_schema"] = [problem]
    if not item.tool and not item.title:
        problems["title"] = [TranslatableMessage("A question without a tool needs a title.")]
    if item.tool and item.answer_schema is not None:
        problems["answer_schema"] = [
            TranslatableMessage("A call has an args_schema; only questions take an answer.")
        ]
    return problems


def _calls_in(messages: Sequence[Mapping[str, Any]]) -> set[Any]:
    """Return the ids of the tool calls in messages, which have any shape here."""
    lists = [message.get("toolCalls") for message in messages]
    calls = [call for items in lists if isinstance(items, list) for call in items]
    ids = [call.get("id") for call in calls if isinstance(call, Mapping)]
    return {name for name in ids if isinstance(name, str)}


def interrupt_of(item: ItemDraft, draft: RequestDraft, expires_at: str | None) -> dict[str, Any]:
    """Return the AG-UI Interrupt of an item, as JSON."""
    interrupt: dict[str, Any] = {
        "id": item.item_id,
        "reason": _reason(item),
        "responseSchema": _response_schema(item),
        "metadata": _metadata(item, draft),
    }
    if message := item.title or item.why:
        interrupt["message"] = message
    if item.tool:
        interrupt["toolCallId"] = item.item_id
    if expires_at:
        interrupt["expiresAt"] = expires_at
    return interrupt


def _schema_problem(schema: Mapping[str, Any] | None) -> TranslatableMessage | None:
    if schema is None:
        return None
    try:
        read_schema(schema)
    except SchemaRejected as error:
        return TranslatableMessage("This JSON Schema cannot be used: {error}", error=str(error))
    return None


def _reason(item: ItemDraft) -> Reason:
    if item.tool:
        return Reason.TOOL_CALL
    return Reason.CONFIRMATION if item.answer_schema is None else Reason.INPUT_REQUIRED


def _response_schema(item: ItemDraft) -> dict[str, Any]:
    if not item.tool:
        return approval_schema() if item.answer_schema is None else dict(item.answer_schema)
    if not item.may_edit:
        return approval_schema()
    schema = item.args_schema or _schema_of(item.args)
    schema = moved_schema(schema, "#/properties/editedArgs")
    definitions: dict[str, Any] = {
        name: schema.pop(name) for name in ("$defs", "definitions") if name in schema
    }
    return {**definitions, **approval_schema(edited_args={"type": "object", **schema})}


def _schema_of(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema that gives each argument a field of its type."""
    types = {bool: "boolean", int: "number", float: "number", str: "string"}
    properties = {
        name: {"type": types[type(value)]} if type(value) in types else {}
        for name, value in args.items()
    }
    return {"type": "object", "properties": properties}


def _metadata(item: ItemDraft, draft: RequestDraft) -> dict[str, Any]:
    metadata = {name: value for name, value in item.metadata.items() if name != SIGNOFF}
    if item.title and item.why:
        metadata["why"] = item.why
    if draft.references:
        metadata["references"] = [dict(reference) for reference in draft.references]
    sent = item.metadata.get(SIGNOFF)
    signoff = {_PRESENT: sent[_PRESENT]} if isinstance(sent, Mapping) and _PRESENT in sent else {}
    if draft.secret_paths and item.tool:
        signoff[SECRETS] = list(draft.secret_paths)
    return {**metadata, SIGNOFF: signoff} if signoff else metadata
