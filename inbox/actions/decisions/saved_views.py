"""Saved views: named list filters of a person or a team."""

from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.models import SavedView
from inbox.models.locks import lock_saved_view
from inbox.platform.clock import database_now
from inbox.queries.people.access import permissions_in, require, teams_of
from inbox.rules import errors
from inbox.rules.decisions.list_filters import InterruptFilter, check_view_name
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage

MAX_VIEWS = 50


@transaction.atomic(durable=True)
def save_view(
    *, name: str, list_filter: InterruptFilter, actor: Actor, team_id: UUID | None = None
) -> SavedView:
    """
    Save a filter under a name, for the actor alone or shared with a team.

    Safe to replay: replaces the actor's view of this name.

    Raises:
        InvalidValue: the name is not 1 to 60 characters, or there are too many views.
        NotFound, Forbidden: sharing needs the permission to decide in the team; only members of a
            team can save views.
    """
    check_view_name(name)
    if actor.user_id is None or not teams_of(actor):
        raise errors.Forbidden(TranslatableMessage("Views can only be saved by members of a team."))
    if team_id is not None:
        require(actor, team_id, Permission.DECIDE)
    own = SavedView.objects.filter(user=actor.user_id)
    if own.exclude(name=name).count() >= MAX_VIEWS:
        raise errors.InvalidValue(
            TranslatableMessage(
                "You have {count} saved views. Delete one before you save another.",
                count=MAX_VIEWS,
            )
        )
    now = database_now()
    columns = {"query": list_filter.to_full_query(), "team_id": team_id}
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
    Share a view with a team, or with None make it private again.

    Only the owner can share it, with a team in which they may decide; an admin of the team can end
    the sharing.

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
    Delete a view, as its owner or as an admin of the team it is shared with.

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
    """Audit in the team of a shared view; for a private one, in each team of the actor."""
    now = database_now()
    audit_trail.record_all(
        [
            audit_trail.build_entry(
                action, actor, now, team_id=team, view=str(view.pk), name=view.name
            )
            for team in ([team_id] if team_id else teams_of(actor))
        ]
    )
