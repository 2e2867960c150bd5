"""Edits of a tool call's arguments: whether they are offered, and their form in an answer."""

import json
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.errors import EditsNotOffered, InvalidPayload
from inbox.rules.schema.schemas import named_members
from inbox.rules.text.messages import TranslatableMessage

EDITED = "editedArgs"
#: Names of edits in other products, and what people write for `editedArgs`, without case and `_`.
_EDIT_NAMES = frozenset(
    f"{changed}{what}"
    for changed in ("edit", "edited", "modified", "changed", "new", "updated", "tool", "")
    for what in ("args", "arguments", "input", "parameters", "params")
) | {"edit", "edits", "edited", "modifications", "changes"}
#: Those that list changes only: an empty one changes nothing.
_LISTS = frozenset({"edits", "modifications", "changes"})
#: Members of an approval that are never edits, even if an argument has the same name.
_APPROVAL_MEMBERS = ("approved", EDITED, "reason")

NOT_OFFERED = TranslatableMessage(
    "The arguments cannot be edited: the response schema has no `editedArgs`."
)
_WRONG_FORM = TranslatableMessage("Send changed arguments complete, in `editedArgs` only.")


def offers_edits(schema: Mapping[str, Any] | None) -> bool:
    """
    Return whether a response schema names `editedArgs`.

    In AG-UI the property in the schema signals the capability; without a schema edits are not
    offered.
    """
    return EDITED in named_members(schema)


def check_edits(*, schema: Mapping[str, Any] | None, args: str | None, payload: Any) -> None:
    """
    Raise if an answer has edits that would not be applied; `args` is canonical JSON text.

    Some clients send edits in `toolCall.arguments`, in `modifications`, in a misspelt member, or as
    members with the names of arguments. These are not applied, so they are rejected instead of
    ignored, also where the agent's schema allows any member.

    Raises:
        EditsNotOffered: the response schema does not name `editedArgs`.
        InvalidPayload: it does, but the edits are in another member.
    """
    if not isinstance(payload, dict):
        return
    is_offered = offers_edits(schema)
    if EDITED in payload and not is_offered:
        raise EditsNotOffered(NOT_OFFERED)
    if args is not None and payload.get("approved") is True:
        member = _misplaced_edit(payload, json.loads(args), named_members(schema))
        if member:
            problems = [{"pointer": f"/{member}", "message": _WRONG_FORM}]
            raise (
                InvalidPayload(_WRONG_FORM, problems=problems)
                if is_offered
                else EditsNotOffered(NOT_OFFERED)
            )


def flat_edits(*, schema: Mapping[str, Any] | None, args: Any, payload: Any) -> list[str]:
    """
    Return the members of a LangGraph client's approval that have the names of arguments.

    `{"approved": true, "amount": 35}` edits the argument `amount`. `reason` is an edit if the call
    has such an argument; other properties of the schema are not edits.
    """
    if not (isinstance(args, Mapping) and isinstance(payload, Mapping)):
        return []
    others = {*named_members(schema), "approved", EDITED} - {"reason"}
    return [name for name in payload if name in args and name not in others]


def _misplaced_edit(
    payload: Mapping[str, Any], args: Mapping[str, Any], named: frozenset[str]
) -> str:
    """Return the first member of an approval that would edit arguments, "" without one."""
    call = payload.get("toolCall")
    if isinstance(call, Mapping) and _are_other_arguments(call.get("arguments"), payload, args):
        return "toolCall"
    others = {name: payload[name] for name in payload.keys() - named - {*_APPROVAL_MEMBERS}}
    for name in sorted(others):
        if name in args:
            is_edit = not _is_equal(others[name], args[name])
        else:
            is_none = others[name] is None or (name in _LISTS and not others[name])
            is_edit = _is_edit(name) and not is_none and not _is_equal(others[name], args)
        if is_edit:
            return name
    return ""


def _is_edit(name: str) -> bool:
    """Return whether a member is named as edits are, also with a slip of the hand."""
    plain = name.lower().replace("_", "").replace("-", "")
    return plain in _EDIT_NAMES or bool(get_close_matches(plain, [EDITED.lower()], cutoff=0.85))


def _are_other_arguments(
    arguments: Any, payload: Mapping[str, Any], args: Mapping[str, Any]
) -> bool:
    """Return whether arguments differ from the stored ones and from `editedArgs`."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return True
    return arguments is not None and not any(
        _is_equal(arguments, accepted) for accepted in (args, payload.get(EDITED))
    )


def _is_equal(left: Any, right: Any) -> bool:
    try:
        return canonical_json(left) == canonical_json(right)
    except ValueError:  # a number without canonical text; storing the answer rejects it
        return False
