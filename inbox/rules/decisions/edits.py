"""Edits of a tool call's arguments: where they are offered, and in which form they are taken."""

import json
from collections.abc import Mapping
from typing import Any

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.errors import EditsNotOffered, InvalidPayload
from inbox.rules.schema.schemas import named_members
from inbox.rules.text.messages import TranslatableMessage

EDITED = "editedArgs"
#: Names of an approval that are never arguments, whatever the arguments are called.
_OWN_NAMES = ("approved", EDITED, "reason")

NOT_OFFERED = TranslatableMessage(
    "The arguments cannot be edited: the response schema has no `editedArgs`."
)
_WRONG_FORM = TranslatableMessage("Send changed arguments complete, in `editedArgs` only.")


def offers_edits(schema: Mapping[str, Any] | None) -> bool:
    """
    Whether a response schema names `editedArgs`.

    Its presence in the schema is the capability signal of AG-UI; without a schema there is none.
    """
    return EDITED in named_members(schema)


def check_edits(*, schema: Mapping[str, Any] | None, args: str | None, payload: Any) -> None:
    """
    Raise unless each edit in an answer is one that is applied; `args` is canonical JSON text.

    Besides `editedArgs` clients send edits as a changed `toolCall.arguments`, as `modifications`,
    or as members with the names of arguments. None of these is applied here, so none is ignored.

    Raises:
        EditsNotOffered: the response schema does not name `editedArgs`.
        InvalidPayload: it does, and the edit is in another place.
    """
    if not isinstance(payload, dict):
        return
    is_offered = offers_edits(schema)
    if EDITED in payload and not is_offered:
        raise EditsNotOffered(NOT_OFFERED)
    if args is not None and payload.get("approved") is True:
        place = _misplaced_edit(payload, json.loads(args), named_members(schema))
        if place:
            problems = [{"pointer": f"/{place}", "message": _WRONG_FORM}]
            raise (
                InvalidPayload(_WRONG_FORM, problems=problems)
                if is_offered
                else EditsNotOffered(NOT_OFFERED)
            )


def flat_edits(*, schema: Mapping[str, Any] | None, args: Any, payload: Any) -> list[str]:
    """
    Return the members of a LangGraph client's approval that have the names of arguments.

    `{"approved": true, "amount": 35}` edits the argument `amount`. Beside an approval `reason` is
    an edit too, if the call has such an argument; any other name that the schema has is no edit.
    """
    if not (isinstance(args, Mapping) and isinstance(payload, Mapping)):
        return []
    known = {*named_members(schema), "approved", EDITED} - {"reason"}
    return [name for name in payload if name in args and name not in known]


def _misplaced_edit(
    payload: Mapping[str, Any], args: Mapping[str, Any], named: frozenset[str]
) -> str:
    """The member of an approval that would change arguments, "" if none would."""
    call = payload.get("toolCall")
    if isinstance(call, Mapping) and _repeats_otherwise(call.get("arguments"), payload, args):
        return "toolCall"
    if "modifications" not in named and payload.get("modifications") not in (None, {}):
        return "modifications"
    flat = (name for name in payload if name in args and name not in {*named, *_OWN_NAMES})
    return next((name for name in flat if not _same(payload[name], args[name])), "")


def _repeats_otherwise(given: Any, payload: Mapping[str, Any], args: Mapping[str, Any]) -> bool:
    """Whether a repeated call has arguments that are neither the stored nor the edited ones."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return True
    return given is not None and not any(
        _same(given, known) for known in (args, payload.get(EDITED))
    )


def _same(one: Any, other: Any) -> bool:
    try:
        return canonical_json(one) == canonical_json(other)
    except ValueError:  # a number that no JSON text keeps: refused where the answer is stored
        return False
