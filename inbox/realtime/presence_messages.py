"""What a page may say on its socket: which interrupt it shows now."""

from uuid import UUID

from agents.agui import strict_json

_MOST_CHARACTERS = 200


def read_here(frame: str | None) -> UUID | None:
    """
    The interrupt of `{"type": "here", "interrupt": "<id>"}`, None for `null`.

    Raises:
        ValueError: it is anything else.
    """
    if frame is None or len(frame) > _MOST_CHARACTERS:
        raise ValueError("no short text")
    value = strict_json.loads(frame)
    if not isinstance(value, dict) or set(value) != {"type", "interrupt"}:
        raise ValueError("other fields")
    name = value["interrupt"]
    if value["type"] != "here" or not (name is None or isinstance(name, str)):
        raise ValueError("other values")
    if name is None:
        return None
    found = UUID(name)
    if str(found) != name:
        raise ValueError("an id in another spelling")
    return found
