"""Links of mails by which people decide requests: the valid ones, and which requests have one."""

from datetime import datetime

from inbox.models import Decision, DecisionLink, Interrupt
from inbox.platform.clock import database_now
from inbox.queries.notifications.recipients import is_waiting
from inbox.queries.people.access import permissions_in
from inbox.queries.policies.policies import stored_ruling
from inbox.queries.policies.quorum import Quorum, current_quorum
from inbox.rules.decisions.gate import check_outside_of_inbox
from inbox.rules.decisions.links import (
    LINK_METHOD,
    check_shown_by_link,
    check_via_link,
    token_digest,
)
from inbox.rules.errors import ContractError, NotByLink, Unauthenticated
from inbox.rules.people.access import Actor, ActorKind, Permission
from inbox.rules.text.messages import TranslatableMessage


def link_of(token: str) -> DecisionLink | None:
    """Return the link with this token, also if it has ended."""
    rows = DecisionLink.objects.filter(token_digest=token_digest(token))
    return rows.select_related("user").first()


def open_link(token: str) -> DecisionLink | None:
    """Return the link with this token if its person may decide its open request now."""
    link = link_of(token)
    if link is None or link.used_at is not None:
        return None
    now = database_now()
    row = Interrupt.objects.values("status", "expires_at", "team", "agent").get(
        pk=link.interrupt_id
    )
    allowed = permissions_in(actor_of_link(link), row["team"], row["agent"])
    is_open = link.expires_at > now and is_waiting(row["status"], row["expires_at"], now)
    if not is_open or Permission.DECIDE not in allowed or was_decided_since(link):
        return None
    return link


def is_as_mailed(link: DecisionLink, interrupt: Interrupt) -> bool:
    """Return whether an open link may decide its request, which is as it was when mailed."""
    is_same = link.view_digest == interrupt.shown_digest
    return is_same and has_link(interrupt, database_now())


def was_decided_since(link: DecisionLink) -> bool:
    """Return whether the request was decided after the mail, also if that was taken back."""
    decisions = Decision.objects.filter(interrupt=link.interrupt_id)
    return decisions.filter(created_at__gte=link.created_at).exists()


def actor_of_link(link: DecisionLink) -> Actor:
    """Return the person who decides by a link, without a session."""
    return Actor(
        kind=ActorKind.HUMAN,
        label=link.user.display_name,
        user_id=link.user_id,
        method=LINK_METHOD,
        link_id=link.pk,
    )


def check_link_of(actor: Actor, interrupt: Interrupt, view_digest: str) -> None:
    """
    Raise unless the link by which an actor decides was made for this view of the request.

    Raises:
        Unauthenticated.
    """
    link = DecisionLink.objects.filter(pk=actor.link_id).first() if actor.link_id else None
    about = (actor.user_id, interrupt.pk, view_digest)
    if (
        link is None
        or (link.user_id, link.interrupt_id, link.view_digest) != about
        or was_decided_since(link)
    ):
        raise Unauthenticated(TranslatableMessage("This link was used or has expired."))


def check_link_offered(interrupt: Interrupt, now: datetime) -> None:
    """
    Raise unless the request may be decided by link now, by a person who may decide it.

    Raises:
        InboxOnly, NotByLink.
    """
    check_outside_of_inbox(inbox_only=interrupt.team.inbox_only)
    check_by_link(interrupt, current_quorum(interrupt, now))


def check_by_link(interrupt: Interrupt, quorum: Quorum) -> None:
    """
    Raise unless the policy and the view of a request allow links.

    Raises:
        NotByLink.
    """
    ruling = stored_ruling(interrupt)
    check_via_link(ruling.requirement if ruling else None)
    if quorum.needs_several:
        raise NotByLink(TranslatableMessage("Several people have to approve this."))
    check_shown_by_link(interrupt.bulk_candidate())


def has_link(interrupt: Interrupt, now: datetime) -> bool:
    """Return whether a mail about the request has a link to decide it."""
    try:
        check_link_offered(interrupt, now)
    except ContractError:
        return False
    return True
