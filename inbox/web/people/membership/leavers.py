"""The page on which a member is removed, with the keys, webhooks and invitations that they own."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from inbox.actions.people.members import remove_member
from inbox.queries.people.credentials import CredentialKind, credentials_of
from inbox.queries.people.members import members_of, team_access, teams_with_access
from inbox.queries.people.teams import team_for
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.pages import page, post_page, show
from inbox.web.base.translate import translate
from inbox.web.people.teams import show_members, team_frame

_KINDS = {
    CredentialKind.KEY: (gettext_noop("API key"), gettext_noop("Revoke it")),
    CredentialKind.WEBHOOK: (gettext_noop("Webhook"), gettext_noop("Disable it")),
    CredentialKind.INVITATION: (gettext_noop("Invitation"), gettext_noop("Withdraw it")),
}
#: The names of the form's fields begin so; the id of the key, webhook or invitation follows.
_OWNER = "owner."


@page
def remove_page(request: HttpRequest, actor: Actor, team: str, user: int) -> HttpResponse:
    return _show(request, actor, team, user)


@post_page
def remove(request: HttpRequest, actor: Actor, team: str, user: int) -> HttpResponse:
    """Remove the member; without choices everything that they own ends."""
    team_id = team_for(actor, team).pk
    try:
        remove_member(team_id=team_id, user_id=user, actor=actor, heirs=_heirs(request))
    except errors.LastAdmin as refusal:
        return show_members(request, actor, team, notice=translate(refusal.message), status=409)
    except errors.InvalidInput as refusal:
        return _show(request, actor, team, user, notice=translate(refusal.message), status=422)
    is_member = any(access.team.slug == team for access in teams_with_access(actor))
    url = reverse("team", args=[team]) if is_member else reverse("teams")
    return HttpResponseRedirect(url, status=303)


def _heirs(request: HttpRequest) -> dict[UUID, int]:
    """Return the chosen owners by credential. Raises InvalidInput."""
    try:
        return {
            UUID(name.removeprefix(_OWNER)): int(str(value))
            for name, value in request.POST.items()
            if name.startswith(_OWNER) and value
        }
    except ValueError as error:
        raise errors.NotFound() from error


def _show(
    request: HttpRequest, actor: Actor, slug: str, user: int, *, notice: str = "", status: int = 200
) -> HttpResponse:
    access = team_access(actor, slug)
    credentials = credentials_of(actor, access.team.pk, user)
    people = [row.user for row in members_of(actor, access.team.pk)]
    leaver = next((person for person in people if person.pk == user), None)
    if leaver is None:  # removed since the credentials were read
        raise errors.NotFound()
    heirs = [person for person in people if person.is_active and person != leaver]
    context = {
        "leaver": leaver,
        "leaver_name": escape_invisible(leaver.display_name),
        "is_me": leaver.pk == actor.user_id,
        "notice": notice,
        "credentials": [
            {
                "field": f"{_OWNER}{row.id}",
                "kind": gettext(_KINDS[row.kind][0]),
                "end": gettext(_KINDS[row.kind][1]),
                "name": escape_invisible(row.name),
                "created_at": row.created_at,
                "last_used_at": row.last_used_at,
            }
            for row in credentials
        ],
        "heirs": heirs if access.administers else [],
        **team_frame(actor, access, "members"),
    }
    return show(request, actor, "people/leaver.html", context, section="teams", status=status)
