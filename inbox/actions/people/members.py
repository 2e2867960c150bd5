"""Teams and their members."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction

from inbox.actions.audit import audit_trail
from inbox.actions.decisions.assignees import clear_assignments
from inbox.actions.notifications.announcements import announce_setting
from inbox.actions.people.credentials import end_credentials, members_by_id
from inbox.actions.policies.installation import version_for_new_team
from inbox.actions.team_lock import lock_permitted_team
from inbox.models import AgentError, AuditEntry, Membership, Team, User
from inbox.models.locks import lock_credentials
from inbox.models.people.sessions import shorten_sessions
from inbox.platform.clock import database_now
from inbox.queries.people.access import is_installation_admin, permissions_in, require_fresh_sign_in
from inbox.rules import errors
from inbox.rules.notifications.events import AnnouncementKind
from inbox.rules.people.access import ROLE_PERMISSIONS, Actor, ActorKind, Permission, Role
from inbox.rules.people.required_sign_in import check_required_sign_in
from inbox.rules.people.team_settings import (
    MAY_BE_NONE,
    PROPOSAL_AGE,
    SESSION_LIMITS,
    SIGN_IN_SETTINGS,
    check_settings,
    is_weaker,
)
from inbox.rules.people.teams import check_admin_stays, check_role_given, check_team
from inbox.rules.text.messages import TranslatableMessage

_MAX_ID = 2**63 - 1


def make_team(*, slug: str, name: str, actor: Actor) -> Team:
    """
    Create a team, with the actor as its administrator; only superusers and commands can.

    Raises:
        Forbidden, InvalidValue.
        AddressTaken: there is a team with this slug.
    """
    if not is_installation_admin(actor):
        raise errors.Forbidden(TranslatableMessage("Only superusers can create teams."))
    check_team(name=name, slug=slug)
    try:
        return _make_team(slug, name, actor)
    except IntegrityError as error:
        raise errors.AddressTaken(
            TranslatableMessage(
                "A team with the address {name} already exists. Choose another address.",
                name=repr(slug),
            )
        ) from error


@transaction.atomic(durable=True)
def _make_team(slug: str, name: str, actor: Actor) -> Team:
    team = Team.objects.create(slug=slug, name=name, installation_version_id=version_for_new_team())
    now = database_now()
    audit_trail.record("team.created", actor, now, team_id=team.pk)
    if actor.kind is ActorKind.HUMAN and actor.user_id is not None:
        add_membership(team.pk, User.objects.get(pk=actor.user_id), Role.ADMIN, actor)
    return team


def add_membership(team_id: UUID, user: User, role: str, actor: Actor, **detail: str) -> None:
    """Make a person a member of a team, in the transaction of the caller."""
    row = Membership.objects.create(team_id=team_id, user=user, role=role)
    shorten_sessions(user.pk)
    _record(row, "member.added", actor, role=role, **detail)


_PROPOSED = "team.setting_proposed"
#: Settings with an audit action of their own: the action, and the name of its detail.
_AUDIT_ACTIONS = {
    "grace_seconds": ("team.grace_set", "seconds"),
    "request_expiry_hours": ("team.expiry_set", "hours"),
}


def change_team(
    *, team_id: UUID, actor: Actor, name: str | None = None, **new_settings: Any
) -> Team:
    """
    Change a team's name, or any setting in `inbox.rules.people.team_settings`.

    None leaves a value as it is, except for those in MAY_BE_NONE. New periods do not apply to open
    interrupts or to runs whose grace period has begun. Safe to replay: a change without effect
    writes no audit entry.

    In a team with `two_administrators`, what asks less of those who decide is stored as a proposal
    of the person; another administrator who makes the same change within a week confirms it.

    Raises:
        NotFound, Forbidden, InvalidValue.
        SecondAdministratorRequired: nobody else has proposed this.
    """
    try:
        return _change_team(team_id, actor, name, new_settings)
    except errors.SecondAdministratorRequired:
        _propose(team_id, actor, _changes(new_settings))
        raise


def _changes(new_settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value for key, value in new_settings.items() if value is not None or key in MAY_BE_NONE
    }


@transaction.atomic(durable=True)
def _propose(team_id: UUID, actor: Actor, changes: Mapping[str, Any]) -> None:
    """Record the weaker settings that a person wants, once."""
    team, now = lock_permitted_team(team_id, actor, Permission.ADMIN), database_now()
    for setting, value in changes.items():
        before = getattr(team, setting)
        is_proposal = is_weaker(setting, before, value) and actor.user_id
        if is_proposal and str(actor.user_id) not in _proposers(team, setting, value, now):
            audit_trail.record(_PROPOSED, actor, now, team_id=team.pk, setting=setting, value=value)
            about = {"name": setting, "before": before, "value": value}
            announce_setting(AnnouncementKind.SETTING_PROPOSED, team, actor, now, **about)


def _proposers(team: Team, setting: str, value: Any, now: datetime) -> set[str]:
    """Return the ids of the administrators whose proposal of a setting is pending."""
    entries = AuditEntry.objects.filter(
        team=team,
        action__in=(_PROPOSED, "team.setting_changed"),
        at__gte=now - PROPOSAL_AGE,
    )
    proposers: set[str] = set()
    for entry in entries.select_related("payload").order_by("seq"):
        detail = entry.content["detail"] if hasattr(entry, "payload") else {}
        if detail.get("setting") != setting:
            continue
        if entry.action != _PROPOSED:
            proposers.clear()  # a change ends the proposals of before
        elif detail.get("value") == value:
            proposers.add(entry.actor_id)
    admins = Membership.objects.filter(team=team, role=Role.ADMIN, user__is_active=True)
    return proposers & {str(user_id) for user_id in admins.values_list("user", flat=True)}


def _check_second_administrator(
    team: Team, actor: Actor, changes: Mapping[str, Any], now: datetime
) -> None:
    """Raise SecondAdministratorRequired unless another one has proposed what is weaker."""
    if not team.two_administrators or actor.kind is ActorKind.SYSTEM:
        return
    for setting, value in changes.items():
        if is_weaker(setting, getattr(team, setting), value) and (
            actor.user_id is None
            or not _proposers(team, setting, value, now) - {str(actor.user_id)}
        ):
            raise errors.SecondAdministratorRequired(
                TranslatableMessage(
                    "This team asks for two administrators. The change of {setting} is proposed "
                    "now: another administrator makes the same change within {days} days to "
                    "confirm it.",
                    setting=setting,
                    days=PROPOSAL_AGE.days,
                )
            )


@transaction.atomic(durable=True)
def _change_team(
    team_id: UUID, actor: Actor, name: str | None, new_settings: Mapping[str, Any]
) -> Team:
    team, now = lock_permitted_team(team_id, actor, Permission.ADMIN), database_now()
    check_team(name=name)
    changes = _changes(new_settings)
    check_settings(changes)
    _check_second_administrator(team, actor, changes, now)
    if required_sign_in := changes.get("required_sign_in"):
        check_required_sign_in(
            required_sign_in,
            own_proofs=actor.proofs if actor.session_key else None,
            has_providers=bool(settings.OIDC_PROVIDERS),
        )
    if name is not None and name != team.name:
        audit_trail.record("team.renamed", actor, now, team_id=team.pk, before=team.name, name=name)
        team.name = name
        team.save(update_fields=["name"])
    for setting, value in changes.items():
        before = getattr(team, setting)
        if value != before:
            if setting in SIGN_IN_SETTINGS:
                require_fresh_sign_in(actor, now)
            action, label = _AUDIT_ACTIONS.get(setting, ("team.setting_changed", "value"))
            detail = {} if setting in _AUDIT_ACTIONS else {"setting": setting, "before": before}
            audit_trail.record(action, actor, now, team_id=team.pk, **detail, **{label: value})
            if is_weaker(setting, before, value):
                about = {"name": setting, "before": before, "value": value}
                announce_setting(AnnouncementKind.SETTING_WEAKENED, team, actor, now, **about)
            setattr(team, setting, value)
            team.save(update_fields=[setting])
            if setting == "stores_exceptions" and not value:
                AgentError.objects.filter(run__thread__team=team).delete()
    if any(setting in changes for setting in SESSION_LIMITS):
        for user_id in Membership.objects.filter(team=team).values_list("user", flat=True):
            shorten_sessions(user_id)
    return team


@transaction.atomic(durable=True)
def change_role(*, team_id: UUID, user_id: int, role: Role, actor: Actor) -> Membership:
    """
    Change a member's role. Safe to replay.

    Raises:
        NotFound, Forbidden.
        MoreThanOwn: the role has permissions that the actor does not have.
        LastAdmin.
    """
    lock_permitted_team(team_id, actor, Permission.ADMIN, fresh_sign_in=True)
    row = _member(team_id, user_id)
    before = Role(row.role)
    if before is role:
        return row
    check_role_given(role=role, before=before, may_give=permissions_in(actor, team_id))
    assign_role(row, role, actor)
    return row


def assign_role(row: Membership, role: Role, actor: Actor, **detail: str) -> None:
    """
    Give a member another role, in the transaction of the caller, who has locked the team.

    Raises:
        LastAdmin.
    """
    before = Role(row.role)
    check_admin_stays(before=before, after=role, other_admins=_other_admins(row))
    row.role = role
    row.save(update_fields=["role"])
    if Permission.DECIDE not in ROLE_PERMISSIONS[role]:
        clear_assignments(row.team_id, row.user_id)
    _record(row, "member.role_changed", actor, before=before.value, role=role.value, **detail)


@transaction.atomic(durable=True)
def remove_member(
    *, team_id: UUID, user_id: int, actor: Actor, heirs: Mapping[UUID, int] | None = None
) -> None:
    """
    Remove a member from a team, or leave it; ends their access to it.

    Their decisions stay; open requests are no longer assigned to them. Their keys are revoked,
    their webhooks disabled and their invitations withdrawn, except for those in `heirs`: by id, the
    member who becomes the owner.

    Raises:
        NotFound, Forbidden, LastAdmin.
        InvalidValue: an heir is no other active member.
    """
    leaves = actor.user_id == user_id
    permission = Permission.READ if leaves and not heirs else Permission.ADMIN
    if user_id <= _MAX_ID:
        lock_credentials([user_id], team_id)
    lock_permitted_team(team_id, actor, permission)
    row = _member(team_id, user_id)
    check_can_leave(row)
    delete_membership(row, "member.left" if leaves else "member.removed", actor)
    heirs = heirs or {}
    members = members_by_id(team_id, set(heirs.values()))  # read after the deletion
    end_credentials(
        user_id=user_id,
        team_ids=[team_id],
        actor=actor,
        now=database_now(),
        heirs={key: members[heir] for key, heir in heirs.items()},
    )


def check_can_leave(row: Membership) -> None:
    """Raise LastAdmin if the team would have no active administrator without this member."""
    check_admin_stays(before=Role(row.role), after=None, other_admins=_other_admins(row))


def delete_membership(row: Membership, action: str, actor: Actor, **detail: str) -> None:
    """
    Delete a membership, in the transaction of the caller, who has locked the team.

    The caller ends the credentials of the person in the team as well.
    """
    _record(row, action, actor, role=row.role, **detail)
    row.delete()
    clear_assignments(row.team_id, row.user_id)


def _member(team_id: UUID, user_id: int) -> Membership:
    if user_id > _MAX_ID:  # no database takes it for a number
        raise errors.NotFound()
    row = Membership.objects.filter(team=team_id, user=user_id).select_related("user").first()
    if row is None:
        raise errors.NotFound()
    return row


def _other_admins(row: Membership) -> int:
    admins = Membership.objects.filter(team=row.team_id, role=Role.ADMIN, user__is_active=True)
    return admins.exclude(pk=row.pk).count()


def _record(row: Membership, action: str, actor: Actor, **detail: Any) -> None:
    audit_trail.record(
        action,
        actor,
        database_now(),
        team_id=row.team_id,
        username=row.user.get_username(),
        **detail,
    )
