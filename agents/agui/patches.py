"""JSON Patch (RFC 6902), as STATE_DELTA and ACTIVITY_DELTA carry it."""

import json
from typing import Any

import jsonpatch
from pydantic import BaseModel

from agents.agui.bounds import MAX_CHARACTERS, check_bounds
from agents.agui.errors import ProtocolViolation
from agents.agui.strict_json import dumps

#: Of JSON text that the patches of one run may write anew: 1,000 times the largest state.
MAX_PATCHED_CHARACTERS = 1_000 * MAX_CHARACTERS


class PatchBudget:
    """The characters that the patches of one run may write; each rewrites the document."""

    def __init__(self) -> None:
        self._remaining = MAX_PATCHED_CHARACTERS

    def spend(self, characters: int) -> None:
        """Raise ProtocolViolation if the budget is used up."""
        self._remaining -= characters
        if self._remaining < 0:
            raise ProtocolViolation(
                f"The patches of this run write more than {MAX_PATCHED_CHARACTERS} characters; "
                "send fewer or a smaller state."
            )


def apply_patch(document: Any, operations: list[Any], budget: PatchBudget | None = None) -> Any:
    """
    Return the patched document; `document` is not changed.

    Raises:
        ProtocolViolation: an operation does not apply, or makes the document larger or deeper than
            a thread stores, or the budget is used up.
    """
    patch = [
        operation.model_dump(by_alias=True) if isinstance(operation, BaseModel) else operation
        for operation in operations
    ]
    try:
        return _apply_all(document, patch, budget or PatchBudget())
    except ProtocolViolation:
        raise
    except (
        jsonpatch.JsonPatchException,
        jsonpatch.JsonPointerException,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise ProtocolViolation(
            f"A patch does not apply to the document ({str(error)[:200]}); send a snapshot first."
        ) from error


def _apply_all(document: Any, patch: list[dict[str, Any]], budget: PatchBudget) -> Any:
    """Apply the operations one by one: twenty copies can turn a kilobyte into a gigabyte."""
    text = dumps(document)
    budget.spend(len(text))
    patched = json.loads(text)
    copied = 0
    for operation in patch:
        if operation["op"] == "copy":
            source = jsonpatch.JsonPointer(operation["from"]).resolve(patched)
            copied += len(dumps(source))
        if copied > MAX_CHARACTERS:
            raise ProtocolViolation(f"A patch copies more than {MAX_CHARACTERS} characters.")
        patched = jsonpatch.JsonPatch([operation]).apply(patched, in_place=True)
    # Measuring takes as long as patching, so skip it where the limits cannot be exceeded.
    if len(text) + len(dumps(patch)) + copied > MAX_CHARACTERS or any(map(_may_nest, patch)):
        check_bounds(patched)
    return patched


def _may_nest(operation: dict[str, Any]) -> bool:
    return operation["op"] in ("copy", "move") or isinstance(operation.get("value"), dict | list)
