"""The pages of a team's invitations for its admins."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_noop

from inbox.actions.people.invitations import invite, resend_invitation, withdraw_invitation
from inbox.platform import clock
from inbox.queries.people.invitations import invitations_for, state_of, team_of_invitation
from inbox.queries.people.members import team_access
from inbox.queries.people.teams import team_for
from inbox.rules import errors
from inbox.rules.people.access import Actor, Role
from inbox.rules.people.invitations import InvitationState, MailState
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.people.teams import ROLES, team_frame

if TYPE_CHECKING:
    from inbox.models import Invitation


_EXPIRED = (gettext_noop("Expired"), "bad", "timer-off")
_RETRIED = (gettext_noop("Not sent yet, will be tried again"), "warn", "circle-alert")
_MAILS = {
    MailState.NONE: (gettext_noop("Link displayed"), "line", "link"),
    MailState.SENDING: (gettext_noop("Being sent"), "line", "circle-dashed"),
    MailState.SENT: (gettext_noop("Sent"), "ok", "mail"),
    MailState.FAILED: (gettext_noop("Sending failed"), "bad", "circle-alert"),
}


@page
def invitation_list(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return _show(request, actor, team)


@post_page
def add(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    email, role = request.POST.get("email", ""), request.POST.get("role", "")
    try:
        new_role = Role(role)
    except ValueError as error:
        raise errors.NotFound() from error
    team_id = team_for(actor, team).pk
    try:
        _, link = invite(
            team_id=team_id, email=email, role=new_role, actor=actor, site=site_of(request)
        )
    except errors.InvalidInput as refusal:
        text = translate(refusal.message)
        return _show(request, actor, team, email=email, role=new_role, problem=text, status=422)
    return _done(request, actor, team, link)


@post_page
def resend(request: HttpRequest, actor: Actor, invitation_id: UUID) -> HttpResponse:
    team = team_of_invitation(actor, invitation_id).slug
    try:
        _, link = resend_invitation(invitation_id=invitation_id, actor=actor, site=site_of(request))
    except errors.InvitationEnded as refusal:
        return _show(request, actor, team, notice=translate(refusal.message), status=409)
    except errors.RateLimited as refusal:
        return _show(request, actor, team, notice=translate(refusal.message), status=429)
    return _done(request, actor, team, link)


@post_page
def withdraw(request: HttpRequest, actor: Actor, invitation_id: UUID) -> HttpResponse:
    team = team_of_invitation(actor, invitation_id).slug
    try:
        withdraw_invitation(invitation_id=invitation_id, actor=actor)
    except errors.InvitationEnded as refusal:
        return _show(request, actor, team, notice=translate(refusal.message), status=409)
    return _done(request, actor, team, "")


def site_of(request: HttpRequest) -> str:
    """Return the site's root URL as the caller opened it."""
    return request.build_absolute_uri("/")


def _done(request: HttpRequest, actor: Actor, team: str, link: str) -> HttpResponse:
    """Show the list, with the link if it was not mailed, in this response only."""
    if link:
        return _show(request, actor, team, link=link)
    return see_other("invitations", team)


def _show(
    request: HttpRequest,
    actor: Actor,
    team: str,
    *,
    role: Role = Role.REVIEWER,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    """Render the list and the form; `notice` and `problem` are errors of actions."""
    access = team_access(actor, team)
    now = clock.now()
    context = {
        "invitations": [_shown(row, now) for row in invitations_for(actor, access.team.pk)],
        "roles": [(choice.value, gettext(name), choice is role) for choice, name in ROLES.items()],
        **team_frame(actor, access, "invitations"),
        **more,
    }
    return show(
        request, actor, "people/team_invitations.html", context, section="teams", status=status
    )


def _shown(row: Invitation, now: datetime) -> dict[str, Any]:
    has_expired = state_of(row, now) is InvitationState.EXPIRED
    words, tone, icon = _EXPIRED if has_expired else _MAILS[MailState(row.mail)]
    if row.mail == MailState.SENDING and row.tries > 1 and not has_expired:
        words, tone, icon = _RETRIED
    return {
        "row": row,
        "role": gettext(ROLES[Role(row.role)]),
        "invited_by": escape_invisible(row.invited_by),
        "state": gettext(words),
        "tone": tone,
        "icon": icon,
        "has_expired": has_expired,
    }
