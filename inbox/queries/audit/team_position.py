"""The position of a person's teams in the audit trail, which tells whether a page is up to date."""

from hashlib import sha256

from django.db.models import OuterRef, Subquery

from inbox.models import AuditEntry, Team
from inbox.models.statements import Select
from inbox.rules.people.access import Actor

#: Written when somebody opens a request; pages do not read again because of it.
_VIEWED = "interrupt.viewed"


def position_of(actor: Actor) -> str:
    """
    Return a digest that differs once anything that pages show has changed in the actor's teams.

    Transactions may commit in another order than their entries were numbered, so pages also read
    again from time to time.
    """
    if actor.user_id is None:
        return ""
    rows = _NEWEST.all(user=actor.user_id)
    return sha256(repr(sorted(rows, key=str)).encode()).hexdigest()[:16]


_NEWEST = Select(
    lambda params: (
        Team.objects.filter(memberships__user=params.user)
        .values_list("pk")
        .annotate(
            newest=Subquery(
                AuditEntry.objects.filter(team=OuterRef("pk"))
                .exclude(action=_VIEWED)
                .order_by("-pk")
                .values("pk")[:1]
            )
        )
        .order_by()
    )
)
