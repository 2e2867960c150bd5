"""The request of a program beside an interrupt, and others of the same session."""

from uuid import UUID

from inbox.models import AgentRequest
from inbox.queries.people.access import permissions_in
from inbox.rules.people.access import Actor, Permission

#: Of a session, on the page of a request.
LISTED = 10


def request_of_thread(thread_id: UUID) -> AgentRequest | None:
    """Return the request of a thread, None for threads that workers drive."""
    return AgentRequest.objects.select_related("session").filter(thread=thread_id).first()


def others_of_session(row: AgentRequest) -> list[AgentRequest]:
    """Return the latest other requests of the same session."""
    if row.session_id is None:
        return []
    rows = AgentRequest.objects.filter(session=row.session_id).exclude(pk=row.pk)
    without = rows.select_related("thread").only("status", "created_at", "thread__title")
    return list(without.order_by("-pk")[:LISTED])


def may_revoke(row: AgentRequest, actor: Actor) -> bool:
    """Return whether the actor may take back approvals that are not started."""
    return Permission.ADMIN in permissions_in(actor, row.team_id, row.agent_id)
