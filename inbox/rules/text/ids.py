"""Ids that people and programs write, as in an address."""

from uuid import UUID


def read_id(text: str) -> UUID | None:
    """Return the id that a text is, None if it is none."""
    try:
        return UUID(text)
    except ValueError:
        return None
