"""The page that compares two versions of a team's policy, and the file of a policy."""

import json

from django.http import HttpRequest, HttpResponse

from inbox.queries.people.members import team_access
from inbox.queries.people.teams import team_for
from inbox.queries.policies.policies import policy_state, policy_version, policy_versions
from inbox.queries.policies.reviews import compare_policies
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor
from inbox.web.base.pages import page, show
from inbox.web.people.teams import team_frame
from inbox.web.policies.draft_review import change_rows

VERSIONS_LISTED = 200


@page
def changes(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    access = team_access(actor, team)
    state = policy_state(actor, access.team.pk)
    versions = [row.number for row in policy_versions(actor, access.team.pk, limit=VERSIONS_LISTED)]
    if not (versions or state.draft):
        raise NotFound()
    after = _number(request.GET.get("after", ""))
    if after is None and state.draft is None:
        after = versions[0]
    result = compare_policies(
        actor, access.team.pk, before=_number(request.GET.get("before", "")), after=after
    )
    context = {
        "has_draft": state.draft is not None,
        "versions": versions,
        "before": result.before_number,
        "after": result.after_number,
        "changes": change_rows(result.before, result.after),
        **team_frame(actor, access, "policy"),
    }
    return show(request, actor, "policies/changes.html", context, section="teams")


@page
def export(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    """Return a version as a file, or else the draft or the version in force."""
    team_id = team_for(actor, team).pk
    number = _number(request.GET.get("version", ""))
    state = policy_state(actor, team_id)
    stored = state.draft or state.version
    if number is not None:
        stored = policy_version(actor, team_id, number)
    if stored is None:
        raise NotFound()
    name = f"version-{stored.number}" if hasattr(stored, "number") else "draft"
    return HttpResponse(
        policy_file(stored.body),
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="policy-{team}-{name}.json"'},
    )


def policy_file(body: str) -> str:
    """Return a stored policy sorted and indented, so that changes show in a diff."""
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    except (ValueError, RecursionError):
        return body


def _number(text: str) -> int | None:
    """Return the number of a version, None for ""; raise NotFound if it is something else."""
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise NotFound()
    return int(text)
