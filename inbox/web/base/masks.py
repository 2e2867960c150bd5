"""The sets of masked values on a page, each with the URL that unmasks it."""

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
class MaskedSet:
    """A set of values, some of them masked."""

    name: str
    label: str
    url: str
    is_allowed: bool
    agent_paths: Sequence[str] = ()  #: paths that only the agent's own schema marks as secret


def masked_sets_of(
    masked_values: Mapping[str, MaskedValues], url: str, *, is_allowed: bool
) -> Mapping[str, MaskedSet]:
    """Return the sets that contain masked values, by name."""
    return {
        name: MaskedSet(
            name,
            gettext(TITLES[name]),
            url,
            is_allowed,
            [*map(_path_label, values.places_by_agent)],
        )
        for name, values in masked_values.items()
        if values.places
    }


def _path_label(path: Path) -> str:
    return " / ".join(escape_invisible(str(part)) for part in path)
