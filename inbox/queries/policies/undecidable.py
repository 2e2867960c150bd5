"""The open requests that nobody can approve, because people have left, or by a rule."""

from collections.abc import Hashable
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef

from inbox.models import Announcement, Interrupt
from inbox.models.policies.policies import Ruling
from inbox.queries.policies.policies import load_rulings
from inbox.queries.policies.quorum import Quorum, current_quorum
from inbox.queries.runs.threads import HEAVY_OF_INTERRUPTS
from inbox.rules.notifications.events import AnnouncementKind
from inbox.rules.runs.states import InterruptStatus

#: Requests that are read at a time.
_AT_ONCE = 200


def undecidable_requests(now: datetime) -> list[UUID]:
    """Return the requests that too few people may approve, of which nobody has been told yet."""
    earlier = Announcement.objects.filter(
        kind=AnnouncementKind.UNDECIDABLE, interrupt=OuterRef("pk")
    )
    rulings = Ruling.objects.filter(interrupt=OuterRef("pk"))
    rows = Interrupt.objects.filter(~Exists(earlier), Exists(rulings), status=InterruptStatus.OPEN)
    pks = list(rows.order_by("pk").values_list("pk", flat=True))
    possible: dict[Hashable, bool] = {}
    ids = []
    for start in range(0, len(pks), _AT_ONCE):
        part = Interrupt.objects.filter(pk__in=pks[start : start + _AT_ONCE]).defer(
            *HEAVY_OF_INTERRUPTS
        )
        load_rulings(interrupts := list(part.select_related("team", "run", "run__requester_key")))
        for row in interrupts:
            quorum = current_quorum(row, now)
            is_open_to_all = not row.is_proposal or quorum.allows_self_approval
            if quorum.is_default and is_open_to_all:
                continue
            key = _key(quorum)
            if key not in possible:
                possible[key] = quorum.is_possible
            if not possible[key]:
                ids.append(row.pk)
    return ids


def _key(quorum: Quorum) -> Hashable:
    """Return all that decides whether the quorum is possible: many requests have the same."""
    row = quorum.interrupt
    requesters = row.run.requester_person_ids if row.is_proposal else frozenset()
    return row.team_id, tuple(quorum.slots), quorum.allows_self_approval, requesters
