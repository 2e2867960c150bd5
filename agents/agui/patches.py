"""JSON Patch (RFC 6902), as STATE_DELTA and ACTIVITY_DELTA carry it."""

from typing import Any

import jsonpatch
from pydantic import BaseModel

from agents.agui.errors import ProtocolViolation


def apply_patch(document: Any, operations: list[Any]) -> Any:
    """
    Build the patched document; the one given stays as it is.

    Raises:
        ProtocolViolation: an operation does not apply.
    """
    patch = [
        operation.model_dump(by_alias=True) if isinstance(operation, BaseModel) else operation
        for operation in operations
    ]
    try:
        return jsonpatch.apply_patch(document, patch)
    except (
        jsonpatch.JsonPatchException,
        jsonpatch.JsonPointerException,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        raise ProtocolViolation(
            f"A patch does not apply to what is there ({error}); send a snapshot first."
        ) from error
