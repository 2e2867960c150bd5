"""What a reviewer posted, read as an answer to what was asked."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.agui import strict_json
from inbox.domain.consent import canonical
from inbox.domain.errors import InvalidPayload
from inbox.domain.states import EntryStatus


@dataclass(frozen=True)
class Posted:
    """The fields of the decision form as they came; texts have plain newlines."""

    action: str = ""
    args: str | None = None
    answer: str = ""
    reason: str = ""
    outcome: str = ""
    result: str = ""
    view_digest: str = ""

    @classmethod
    def of(cls, post: Mapping[str, str]) -> "Posted":
        names = ("action", "args", "answer", "reason", "outcome", "result", "view_digest")
        # Browsers send every newline of a text area as CRLF.
        return cls(**{name: post[name].replace("\r\n", "\n") for name in names if name in post})


def read_answer(posted: Posted, *, kind: str, offered: str | None) -> tuple[EntryStatus, Any]:
    """
    The status and payload of the answer.

    `offered` is the text of the arguments as the page showed it: text that equals it was not
    touched, and what was not touched is not sent.

    Raises:
        InvalidPayload: `problems` name the field that has to change.
    """
    match posted.action:
        case "cancel":
            return EntryStatus.CANCELLED, None
        case "approve" if kind == "approval":
            return EntryStatus.RESOLVED, _approval(posted, offered)
        case "reject" if kind == "approval":
            return EntryStatus.RESOLVED, {"approved": False, **_reason(posted)}
        case "answer" if kind == "doubt":
            return EntryStatus.RESOLVED, _outcome(posted)
        case "answer" if kind == "free" and not posted.answer.strip():
            return EntryStatus.RESOLVED, None
        case "answer":
            return EntryStatus.RESOLVED, _json("answer", posted.answer)
    raise InvalidPayload("Choose one of the buttons: this is no answer to what was asked.")


def _approval(posted: Posted, offered: str | None) -> dict[str, Any]:
    edited = {}
    if posted.args is not None and offered is not None and posted.args != offered:
        args = _json("args", posted.args)
        if not isinstance(args, dict):
            raise _wrong("args", "Arguments are a JSON object: { … }.")
        if _text("args", args) != canonical(json.loads(offered)):
            edited = {"editedArgs": args}
    return {"approved": True, **edited, **_reason(posted)}


def _reason(posted: Posted) -> dict[str, str]:
    return {"reason": posted.reason} if posted.reason.strip() else {}


def _outcome(posted: Posted) -> dict[str, str]:
    if not posted.outcome:
        raise _wrong("outcome", "Choose what happened.")
    # A tool's result is text, whatever it holds, so it is passed on as it was typed.
    result = {"result": posted.result} if posted.outcome == "happened" else {}
    return {"outcome": posted.outcome, **result}


def _json(field: str, text: str) -> Any:
    if not text.strip():
        raise _wrong(field, "There is no answer yet: nothing is sent in your place.")
    try:
        return strict_json.loads(text)
    except strict_json.JsonRejected as error:
        raise _wrong(field, str(error)) from error


def _text(field: str, value: Any) -> str:
    try:
        return canonical(value)
    except ValueError as error:
        raise _wrong(field, str(error)) from error


def _wrong(field: str, message: str) -> InvalidPayload:
    return InvalidPayload(message, field=field)
