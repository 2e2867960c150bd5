"""The names of tools that a team's agents have called."""

from uuid import UUID

from inbox.models import ToolCall

#: Teams with more tools get no warnings about unknown ones.
_MAX_TOOLS = 200


def known_tools(team_id: UUID) -> frozenset[str] | None:
    """Return the tools of a team, None if there are too many; one index lookup for each."""
    calls = ToolCall.objects.filter(team=team_id).order_by("name").values_list("name", flat=True)
    names: list[str] = []
    while (name := calls.filter(name__gt=names[-1] if names else "").first()) is not None:
        names.append(name)
        if len(names) > _MAX_TOOLS:
            return None
    return frozenset(names)
