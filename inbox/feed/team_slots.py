"""The event streams and sockets that teams may have open in this process."""

from collections.abc import Iterable
from uuid import UUID

from inbox.platform import rate_limits
from inbox.queries.limits.team_limits import limits_of, slots_name
from inbox.rules.limits.team_limits import Limit, reached


def take_stream_of_team(team_id: UUID) -> None:
    """
    Take a slot for an event stream until the end of this request.

    Raises:
        LimitReached.
    """
    _take(Limit.STREAMS, team_id)


def take_socket_of_teams(team_ids: Iterable[UUID | str]) -> None:
    """
    Take a slot in each team for a socket until it is closed.

    Raises:
        LimitReached.
    """
    for team_id in team_ids:
        _take(Limit.SOCKETS, UUID(str(team_id)))


def _take(limit: Limit, team_id: UUID) -> None:
    most = limits_of(team_id)[limit]
    if most is not None and not rate_limits.take_slot(slots_name(limit, team_id), most):
        raise reached(limit, most)
