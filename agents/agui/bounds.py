"""Size and depth limits of the JSON that a thread stores: state, activities, metadata."""

import json
from typing import Any

from agents.agui import strict_json
from agents.agui.errors import ProtocolViolation

#: The limit of one value as JSON text: a client sends the state back in a request of up to 2 MiB.
MAX_CHARACTERS = 1024 * 1024
#: As for JSON from outside; a snapshot of the thread wraps a few more levels around it.
MAX_DEPTH = strict_json.DEFAULT_LIMITS.max_depth


def copy_within_bounds(value: Any) -> Any:
    """Return an independent copy of plain JSON values; raise as `check_bounds` does."""
    return json.loads(check_bounds(value))


def check_bounds(value: Any) -> str:
    """
    Return the value as JSON text.

    Raises:
        ProtocolViolation: it is not JSON, larger than MAX_CHARACTERS or deeper than MAX_DEPTH.
    """
    try:
        text = strict_json.dumps(value)
        strict_json.check_depth(text.encode(), MAX_DEPTH)
    except (TypeError, ValueError, RecursionError) as error:
        raise ProtocolViolation(f"A thread cannot store this value: {error}") from error
    if len(text) > MAX_CHARACTERS:
        raise ProtocolViolation(
            f"A value has {len(text)} characters of JSON; a thread stores at most {MAX_CHARACTERS}."
        )
    return text
