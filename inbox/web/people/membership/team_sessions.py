"""The page of the members' sessions for a team's administrators."""

from typing import Final

from django.http import HttpRequest, HttpResponse

from inbox.actions.people.member_sessions import end_members_session
from inbox.queries.people.member_sessions import member_sessions
from inbox.queries.people.members import team_access
from inbox.queries.people.teams import team_for
from inbox.rules.people.access import Actor
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.people.teams import team_frame

#: The page lists so many; the REST API has all.
_MOST_SESSIONS: Final = 500


@page
def session_list(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    access = team_access(actor, team)
    rows = member_sessions(actor, access.team.pk, limit=_MOST_SESSIONS)
    context = {
        "sessions": sorted(rows, key=lambda row: row.seen_at, reverse=True),
        **team_frame(actor, access, "sessions"),
    }
    return show(request, actor, "people/team_sessions.html", context, section="teams")


@post_page
def end(request: HttpRequest, actor: Actor, team: str, session_id: int) -> HttpResponse:
    end_members_session(team_id=team_for(actor, team).pk, session_id=session_id, actor=actor)
    return see_other("team_sessions", team)
