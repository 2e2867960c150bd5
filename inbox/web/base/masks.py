"""Which masks of a page can be taken away, and how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop

from inbox.queries.decisions.masked_values import MaskedValues
from inbox.rules.schema.secrets import Path
from inbox.rules.text.safe_text import escape_invisible

TITLES = {
    "request": gettext_noop("Context from the agent"),
    "arguments": gettext_noop("Arguments"),
    "answer": gettext_noop("Answer sent to the agent"),
    "proposed": gettext_noop("Proposed"),
    "approved": gettext_noop("Approved"),
    "executed": gettext_noop("Executed"),
    "result": gettext_noop("Result"),
}


@dataclass(frozen=True)
class Reveal:
    """One set of values with masks in it."""

    what: str
    label: str
    url: str
    is_allowed: bool
    by_agent: Sequence[str] = ()  #: the values that only the agent's own schema hides


def reveals_of(
    known: Mapping[str, MaskedValues], url: str, *, is_allowed: bool
) -> Mapping[str, Reveal]:
    """Those with something secret in them, by their names."""
    return {
        what: Reveal(
            what, gettext(TITLES[what]), url, is_allowed, [*map(_named, veiled.places_by_agent)]
        )
        for what, veiled in known.items()
        if veiled.places
    }


def _named(place: Path) -> str:
    return " / ".join(escape_invisible(str(part)) for part in place)
