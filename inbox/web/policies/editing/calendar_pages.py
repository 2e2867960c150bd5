"""The form for one calendar of a policy, whose hours conditions and times of rules use."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.dates import WEEKDAYS as DAY_NAMES

from inbox.queries.people.access import require
from inbox.queries.people.members import team_access
from inbox.queries.people.teams import team_for
from inbox.queries.policies.policies import PolicyState, policy_state
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.policies.language.document import PolicyError
from inbox.rules.policies.language.policy import WEEKDAYS, Op, Policy
from inbox.rules.schema.secrets import pointer
from inbox.rules.text.messages import TranslatableMessage
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.base.zones import zone_names
from inbox.web.people.teams import team_frame
from inbox.web.policies.editing.calendar_form import (
    CalendarForm,
    calendar_json,
    field_of,
    form_of,
    new_form,
    read_form,
)
from inbox.web.policies.editing.drafts import base_digest, base_policy, change_draft


def _state(actor: Actor, team: str) -> PolicyState:
    """
    Return the policy of a team to its administrators.

    Raises:
        NotFound, Forbidden.
    """
    team_id = team_for(actor, team).pk
    require(actor, team_id, Permission.ADMIN)
    return policy_state(actor, team_id)


@page
def new_calendar(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return _show(request, actor, team, _state(actor, team), new_form())


@page
def calendar(request: HttpRequest, actor: Actor, team: str, name: str) -> HttpResponse:
    state = _state(actor, team)
    if (stored := base_policy(state).calendars.get(name)) is None:
        raise errors.NotFound()
    return _show(request, actor, team, state, form_of(name, stored), name=name)


@post_page
def add_calendar(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return _save(request, actor, team, "")


@post_page
def save_calendar(request: HttpRequest, actor: Actor, team: str, name: str) -> HttpResponse:
    return _save(request, actor, team, name)


def _save(request: HttpRequest, actor: Actor, team: str, name: str) -> HttpResponse:
    """Save the calendar of a form, or delete it; `name` is "" for a new one."""
    state = _state(actor, team)
    form = read_form(request.POST)
    new_name = name or form.name

    def with_calendar(policy: Policy) -> dict[str, Any]:
        document = policy.to_json()
        calendars = document.get("calendars", {})
        others = {key: item for key, item in calendars.items() if key != new_name}
        added = {} if "delete" in request.POST else {new_name: calendar_json(form)}
        return {**document, "calendars": {**others, **added}}

    policy = base_policy(state)
    if not name and new_name in policy.calendars:
        text = TranslatableMessage("Another calendar has this name.")
        return _show(request, actor, team, state, form, problems={"name": translate(text)})
    if "delete" in request.POST and (users := _rules_with(policy, name)):
        text = TranslatableMessage("The rule {rule} uses this calendar.", rule=users[0])
        return _show(request, actor, team, state, form, name=name, problems={"": translate(text)})
    try:
        change_draft(
            team_id=state.team.pk,
            actor=actor,
            seen_digest=request.POST.get("seen", ""),
            change=with_calendar,
        )
    except PolicyError as refusal:
        problems = _problems(refusal, new_name)
        return _show(request, actor, team, state, form, name=name, problems=problems)
    except errors.PolicyChanged as refusal:
        problems = {"": translate(refusal.message)}
        return _show(
            request,
            actor,
            team,
            state,
            form,
            name=name,
            problems=problems,
            status=HTTPStatus.CONFLICT,
        )
    return see_other("team_policy", team)


def _rules_with(policy: Policy, name: str) -> list[str]:
    """Return the names of the rules that use a calendar."""
    return [
        rule.name or rule.id
        for rule in policy.rules
        if (rule.require and rule.require.hours == name)
        or any(
            condition.op is Op.IN_HOURS and condition.value == name
            for condition in (*rule.when, *rule.unless)
        )
    ]


def _problems(refusal: PolicyError, name: str) -> dict[str, str]:
    """Return the document's messages by field; those of rules are in ""."""
    prefix = pointer(("calendars", name))
    problems: dict[str, str] = {}
    for problem in refusal.problems:
        text = translate(problem.message)
        if problem.pointer == prefix:
            problems.setdefault("name", text)
        elif problem.pointer.startswith(f"{prefix}/"):
            problems.setdefault(field_of(problem.pointer.removeprefix(prefix)), text)
        else:
            problems.setdefault("", text)
    return problems


def _show(
    request: HttpRequest,
    actor: Actor,
    team: str,
    state: PolicyState,
    form: CalendarForm,
    *,
    name: str = "",
    problems: Mapping[str, str] | None = None,
    status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY,
) -> HttpResponse:
    """Show the form; with problems, the answer has the status of a refusal."""
    problems = problems or {}
    context = {
        "form": form,
        "calendar_name": name,
        "days": [
            (day, DAY_NAMES[number], form.days.get(day, ""), problems.get(day, ""))
            for number, day in enumerate(WEEKDAYS)
        ],
        "zones": zone_names(),
        "problems": problems,
        "seen": base_digest(state),
        **team_frame(actor, team_access(actor, team), "policy"),
    }
    return show(
        request,
        actor,
        "policies/calendar.html",
        context,
        section="teams",
        status=status if problems else HTTPStatus.OK,
    )
