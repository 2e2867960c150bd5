"""The programs that may act for a request: keys, and the person who asked."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from inbox.models import AgentRequest, Run, Thread
from inbox.queries.people.access import require_current
from inbox.rules.errors import Forbidden, NotFound
from inbox.rules.people.access import Actor, ActorKind, Permission
from inbox.rules.text.messages import TranslatableMessage


def require_program(actor: Actor, thread: Thread, *, now: datetime) -> None:
    """
    Raise unless the actor may act for the program that asked on this thread.

    Call it after taking the lock.

    Raises:
        Unauthenticated, NotFound.
        Forbidden: the actor may not run the agent, or is a person who has not asked.
    """
    require_current(actor, thread.team_id, Permission.RUN, thread.agent_id, now=now)
    if not is_program(actor, thread):
        raise Forbidden(
            TranslatableMessage("Only API keys, and the person who asked, act for a program.")
        )


def is_program(actor: Actor, thread: Thread) -> bool:
    """Return whether the actor is a key with the permission to run, or the person who asked."""
    return thread.pk in threads_of_program(actor, [thread.pk])


def threads_of_program(actor: Actor, thread_ids: Collection[UUID]) -> Collection[UUID]:
    """Return those of the threads on which the actor acts for the program that asked."""
    if actor.kind is ActorKind.KEY:
        return thread_ids if Permission.RUN in actor.scopes else ()
    if actor.user_id is None:
        return ()
    first_runs = Run.objects.filter(thread__in=thread_ids, resumes=None, retries=None)
    return set(first_runs.filter(requester_user=actor.user_id).values_list("thread", flat=True))


def asking_run_id(request_id: UUID) -> UUID:
    """Return the run that asked; it never changes. Raises NotFound."""
    thread = AgentRequest.objects.filter(pk=request_id).values("thread")
    runs = Run.objects.filter(thread__in=thread).order_by("first_seq", "pk")
    run_id: UUID | None = runs.values_list("pk", flat=True).first()
    if run_id is None:
        raise NotFound
    return run_id
