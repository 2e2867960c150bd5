"""Lists that people keep under a name, for themselves or for a team."""

from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.models import SavedView
from inbox.models.clock import database_now
from inbox.models.locks import lock_saved_view
from inbox.queries.people.access import permissions_in, require, teams_of
from inbox.rules import errors
from inbox.rules.decisions.list_filters import InterruptFilter, check_view_name
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage

MOST_VIEWS = 50


@transaction.atomic(durable=True)
def save_view(
    *, name: str, wanted: InterruptFilter, actor: Actor, team_id: UUID | None = None
) -> SavedView:
    """
    Keep a filter under a name, for the actor or for a team of theirs as well.

    Safe to replay: a view of the actor's with this name becomes this one.

    Raises:
        InvalidValue: the name is not 1 to 60 characters, or there are too many views.
        NotFound, Forbidden: sharing needs to decide in the team; only members of one keep views.
    """
    check_view_name(name)
    if actor.user_id is None or not teams_of(actor):
        raise errors.Forbidden(TranslatableMessage("Views can only be saved by members of a team."))
    if team_id is not None:
        require(actor, team_id, Permission.DECIDE)
    own = SavedView.objects.filter(user=actor.user_id)
    if own.exclude(name=name).count() >= MOST_VIEWS:
        raise errors.InvalidValue(
            TranslatableMessage(
                "You have {count} saved views. Delete one before you save another.",
                count=MOST_VIEWS,
            )
        )
    now = database_now()
    columns = {"query": wanted.to_full_query(), "team_id": team_id}
    view, _ = SavedView.objects.update_or_create(
        user_id=actor.user_id,
        name=name,
        defaults=columns,
        create_defaults={**columns, "created_at": now},
    )
    _record("view.saved", view, actor, team_id)
    return view


@transaction.atomic(durable=True)
def share_view(*, view_id: UUID, team_id: UUID | None, actor: Actor) -> SavedView:
    """
    Give a view to a team, or with None to its owner alone again.

    Only its owner gives it to a team, in which they decide; an admin of the team may take it back.

    Raises:
        NotFound, Forbidden.
    """
    view = _view_to_change(view_id, actor)
    if team_id is not None:
        if view.user_id != actor.user_id:
            raise errors.Forbidden(
                TranslatableMessage("Only the owner of a view can share it with a team.")
            )
        require(actor, team_id, Permission.DECIDE)
    before = view.team_id
    if before != team_id:
        view.team_id = team_id
        view.save(update_fields=["team"])
        _record("view.shared" if team_id else "view.unshared", view, actor, team_id or before)
    return view


@transaction.atomic(durable=True)
def delete_view(*, view_id: UUID, actor: Actor) -> None:
    """
    Forget a view; only its owner does, or an admin of the team that has it.

    Raises:
        NotFound, Forbidden.
    """
    view = _view_to_change(view_id, actor)
    _record("view.deleted", view, actor, view.team_id)
    view.delete()


def _view_to_change(view_id: UUID, actor: Actor) -> SavedView:
    view = lock_saved_view(view_id)
    if view is None:
        raise errors.NotFound()
    if view.user_id == actor.user_id:
        return view
    allowed = permissions_in(actor, view.team_id) if view.team_id else ()
    if Permission.READ not in allowed:
        raise errors.NotFound()
    if Permission.ADMIN not in allowed:
        raise errors.Forbidden(
            TranslatableMessage("Only the owner of this view or a team admin can change it.")
        )
    return view


def _record(action: str, view: SavedView, actor: Actor, team_id: UUID | None) -> None:
    """Write it down in the team that it concerns; what is private, in each of the actor's."""
    now = database_now()
    audit_trail.record_all(
        [
            audit_trail.build_entry(
                action=action, actor=actor, now=now, team_id=team, view=str(view.pk), name=view.name
            )
            for team in ([team_id] if team_id else teams_of(actor))
        ]
    )
