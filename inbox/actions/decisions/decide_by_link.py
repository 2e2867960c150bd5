"""Deciding a request by the link of a mail."""

from inbox.actions.audit.rejections import audit_rejected
from inbox.actions.decisions.decide import decide
from inbox.models import Decision
from inbox.queries.notifications.links import actor_of_link, link_of
from inbox.rules.decisions.gate import Entrance
from inbox.rules.decisions.links import APPROVAL, rejection
from inbox.rules.errors import LinkOfAnother, NotByLink, NotFound
from inbox.rules.runs.states import EntryStatus
from inbox.rules.text.messages import TranslatableMessage


def decide_by_link(
    *, token: str, reason: str | None, signed_in: int | None, has_findings: bool
) -> Decision:
    """
    Approve the request of a link as its person, or reject it for a reason.

    `signed_in` is the user id of the session that the browser has, if any; `has_findings` means
    that the page of the request has suspicious characters. The link ends in the transaction of the
    decision; a second call is refused.

    Raises:
        NotFound: there is no such link, or its person may not see the request any more.
        Unauthenticated: the link was used or has expired, or the account is deactivated.
        LinkOfAnother: somebody else is signed in.
        Forbidden: the person may not decide any more.
        NotByLink, and what `decide` raises.
    """
    link = link_of(token)
    if link is None:
        raise NotFound()
    actor = actor_of_link(link)
    with audit_rejected("decide", actor=actor, interrupt_id=link.interrupt_id):
        if signed_in not in (None, link.user_id):
            raise LinkOfAnother(
                TranslatableMessage("This browser is signed in to another account.")
            )
        if has_findings:
            raise NotByLink(
                TranslatableMessage(
                    "The request has suspicious characters. Review it on its own page."
                )
            )
    decision = decide(
        interrupt_id=link.interrupt_id,
        status=EntryStatus.RESOLVED,
        payload=APPROVAL if reason is None else rejection(reason),
        view_digest=link.view_digest,
        actor=actor,
        entrance=Entrance.LINK,
    )
    if not isinstance(decision, Decision):
        raise TypeError("A link has stored an approval of several people.")
    return decision
