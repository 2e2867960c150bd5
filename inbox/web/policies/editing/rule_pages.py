"""The form for one rule of a policy, and what the policy's page does with a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.utils.translation import gettext, gettext_noop

from inbox.queries.agents.agents import agents_for
from inbox.queries.people.access import require
from inbox.queries.people.groups import groups_page
from inbox.queries.people.members import team_access
from inbox.queries.people.teams import team_for
from inbox.queries.policies.met_requests import met_requests
from inbox.queries.policies.policies import policy_state
from inbox.queries.policies.tools import TeamTool
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.policies.language.document import MAX_SLOTS, PolicyError, parse_policy
from inbox.rules.policies.language.document_values import TEXT_FACTS
from inbox.rules.policies.language.policy import Each, Effect, Mode, Policy, Rule, Via
from inbox.rules.policies.language.sentences import rule_sentence
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.people.teams import team_frame
from inbox.web.policies.editing.drafts import (
    base_digest,
    base_policy,
    change_draft,
    free_id,
    rule_of,
)
from inbox.web.policies.editing.rule_form import (
    COMPARISONS,
    SIDES,
    UNITS,
    Row,
    RuleForm,
    RuleJson,
    form_of,
    read_form,
    rule_json,
    tool_names,
    tools_of,
)
from inbox.web.policies.editing.rule_templates import TEMPLATES
from inbox.web.policies.editing.team_tools import team_tools
from inbox.web.policies.rule_strip import strip_of

if TYPE_CHECKING:
    from inbox.models import Team

EFFECTS = {
    Effect.ALLOW: (gettext_noop("Allow"), gettext_noop("The call runs without asking anybody.")),
    Effect.ASK: (gettext_noop("Ask"), gettext_noop("The call waits until people decide.")),
    Effect.DENY: (
        gettext_noop("Deny"),
        gettext_noop("The call is refused, and the agent is told so."),
    ),
}
MODES = {
    Mode.ENFORCE: (gettext_noop("In force"), gettext_noop("From the next publishing on.")),
    Mode.SHADOW: (
        gettext_noop("Shadow"),
        gettext_noop("Recorded for each request, without an effect."),
    ),
    Mode.OFF: (gettext_noop("Off"), gettext_noop("Not evaluated.")),
}
_TYPES = {
    "string": gettext_noop("text"),
    "number": gettext_noop("number"),
    "boolean": gettext_noop("yes or no"),
    "array": gettext_noop("list"),
    "object": gettext_noop("object"),
}
#: The facts besides arguments, with their JSON types and words.
_FACTS = {
    "/environment": ("string", gettext_noop("environment of the agent")),
    "/local_time": ("time", gettext_noop("time of the request")),
    "/agent": ("string", gettext_noop("name of the agent")),
    "/tool": ("string", gettext_noop("name of the tool")),
    "/requester/role": ("string", gettext_noop("role of the requester")),
    "/requester/groups": ("array", gettext_noop("groups of the requester")),
    "/requester/id": ("string", gettext_noop("username of the requester")),
    "/requester/kind": ("string", gettext_noop("kind of requester")),
}
_EACH = {
    "": gettext_noop("the value itself"),
    Each.ANY.value: gettext_noop("any item"),
    Each.EVERY.value: gettext_noop("every item"),
}
_WAYS = {
    Via.WEB: gettext_noop("the inbox"),
    Via.REST: gettext_noop("the REST API"),
    Via.AGUI: gettext_noop("AG-UI clients"),
    Via.LINK: gettext_noop("links in e-mails"),
    Via.CHAT: gettext_noop("chats"),
}
_UNITS = {
    "minutes": gettext_noop("minutes"),
    "hours": gettext_noop("hours"),
    "days": gettext_noop("days"),
}


@dataclass(frozen=True)
class _Place:
    """The policy that a form changes, and what there is to choose from."""

    team_id: UUID
    policy: Policy
    digest: str
    tools: Sequence[TeamTool]
    groups: Sequence[str]
    environments: Sequence[str]
    agents: Sequence[str]

    def types(self, names: Sequence[str]) -> dict[str, str]:
        """Return the types by fact: of the arguments of these tools, without any of all tools."""
        types: dict[str, str] = {}
        for tool in self.tools:
            if tool.name in names or not names:
                for name, kind in tool.arguments.items():
                    fact = name.replace("~", "~0").replace("/", "~1")
                    types[fact] = kind if types.get(fact, kind) == kind else ""
        return {**types, **{fact: kind for fact, (kind, _) in _FACTS.items()}}


def _place(actor: Actor, team: str) -> _Place:
    """
    Return the policy of a team to its administrators.

    Raises:
        NotFound, Forbidden.
    """
    team_id = team_for(actor, team).pk
    require(actor, team_id, Permission.ADMIN)
    state = policy_state(actor, team_id)
    agents = [agent for agent in agents_for(actor) if agent.team_id == team_id]
    environments = {agent.environment for agent in agents if agent.environment}
    return _Place(
        team_id,
        base_policy(state),
        base_digest(state),
        team_tools(actor, team_id),
        [group.name for group in groups_page(actor, team_id)],
        sorted(environments),
        [agent.slug for agent in agents],
    )


# -- views


@page
def new_rule(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    place = _place(actor, team)
    form = RuleForm()
    if (name := request.GET.get("template", "")) in TEMPLATES:
        form = TEMPLATES[name][1](place.tools, list(place.policy.calendars))
    return _show(request, actor, team, place, form)


@page
def rule(request: HttpRequest, actor: Actor, team: str, rule_id: str) -> HttpResponse:
    place = _place(actor, team)
    if (stored := rule_of(place.policy, rule_id)) is None:
        raise errors.NotFound()
    form = form_of(stored, place.types(tools_of(stored)))
    return _show(request, actor, team, place, form, rule_id=rule_id)


@post_page
def add_rule(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return _save(request, actor, team, "")


@post_page
def save_rule(request: HttpRequest, actor: Actor, team: str, rule_id: str) -> HttpResponse:
    return _save(request, actor, team, rule_id)


@post_page
def strip(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    """Return the strip for the fields of a form that is being written; nothing is stored."""
    place = _place(actor, team)
    form = read_form(request.POST)
    policy = _policy_of_rule(form, place, place.types(tool_names(form)))
    if policy is None:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    rule_id = request.POST.get("rule_id", "")
    access = team_access(actor, team)
    past = _past(actor, access.team, place, policy.rules[0], rule_id)
    return render(request, "policies/strip.html", past)


def _save(request: HttpRequest, actor: Actor, team: str, rule_id: str) -> HttpResponse:
    """Save the rule of a form, or show the form again with a row more or less."""
    place = _place(actor, team)
    form = read_form(request.POST)
    if "save" not in request.POST:
        return _show(request, actor, team, place, _restructured(form, request), rule_id=rule_id)
    new_id = rule_id or free_id(place.policy, slugify(form.name))
    written = rule_json(form, new_id, place.types(tool_names(form)))
    if written.problems:
        problems = {name: translate(text) for name, text in written.problems.items()}
        return _show(request, actor, team, place, form, rule_id=rule_id, problems=problems)
    position = 0

    def with_rule(policy: Policy) -> dict[str, Any]:
        nonlocal position
        document = policy.to_json()
        ids = [item["id"] for item in document["rules"]]
        position = ids.index(new_id) if new_id in ids else len(ids)
        document["rules"][position : position + 1] = [written.rule]
        return document

    try:
        change_draft(
            team_id=place.team_id,
            actor=actor,
            seen_digest=request.POST.get("seen", ""),
            change=with_rule,
        )
    except PolicyError as refusal:
        problems = _problems(refusal, written, f"/rules/{position}")
        return _show(request, actor, team, place, form, rule_id=rule_id, problems=problems)
    except errors.PolicyChanged as refusal:
        notice = translate(refusal.message)
        return _show(request, actor, team, place, form, rule_id=rule_id, notice=notice)
    return see_other("team_policy", team)


def _restructured(form: RuleForm, request: HttpRequest) -> RuleForm:
    """Return the form with the row that a button adds; `read_form` leaves removed rows out."""
    side = request.POST.get("add", "")
    if side not in SIDES:
        return form
    return replace(form, rows={**form.rows, side: [*form.rows[side], Row()]})


def _problems(refusal: PolicyError, written: RuleJson, prefix: str) -> dict[str, str]:
    """Return the document's messages by field; those of other rules are in ""."""
    problems: dict[str, str] = {}
    for problem in refusal.problems:
        is_here = problem.pointer.startswith(f"{prefix}/") or problem.pointer == prefix
        pointer = problem.pointer.removeprefix(prefix)
        name = written.field_of(pointer) if is_here else ""
        problems.setdefault(name, translate(problem.message))
    return problems


# -- the page


def _show(
    request: HttpRequest,
    actor: Actor,
    team: str,
    place: _Place,
    form: RuleForm,
    *,
    rule_id: str = "",
    problems: Mapping[str, str] | None = None,
    notice: str = "",
) -> HttpResponse:
    access = team_access(actor, team)
    types = place.types(tool_names(form))
    policy = _policy_of_rule(form, place, types)
    names = tool_names(form)
    boxes = [tool.name for tool in place.tools]
    others = [name for name in names if name not in boxes]
    context = {
        "rule_id": rule_id,
        "seen": place.digest,
        "form": form,
        "problems": problems or {},
        "effects": [
            (value, gettext(word), gettext(text), form.effect == value)
            for value, (word, text) in EFFECTS.items()
        ],
        "modes": [
            (value, gettext(word), gettext(text), form.mode == value)
            for value, (word, text) in MODES.items()
        ],
        "tools": [(tool, tool.name in names) for tool in place.tools],
        "other_tools": form.other_tools if request.method == "POST" else ", ".join(others),
        "facts": [*_argument_options(types), *_fact_options()],
        "sides": [_side(side, form, types, place, problems or {}) for side in SIDES],
        "people": _people(form, place, problems or {}),
        "max_slots": MAX_SLOTS,
        "self_approvals": [
            ("", gettext("as the team's setting says"), form.self_approval == ""),
            ("no", gettext("no"), form.self_approval == "no"),
            ("yes", gettext("yes"), form.self_approval == "yes"),
        ],
        "ways": [(way, gettext(text), way in form.via) for way, text in _WAYS.items()],
        "units": [(unit, gettext(_UNITS[unit]), form.unit == unit) for unit in UNITS],
        "calendars": [(name, name == form.hours) for name in place.policy.calendars],
        "sentence": rule_sentence(policy.rules[0], translate) if policy else "",
        **_past(actor, access.team, place, policy.rules[0] if policy else None, rule_id),
        **team_frame(actor, access, "policy"),
        "notice": notice,
    }
    status = 409 if notice else 422 if problems else 200
    return show(request, actor, "policies/rule.html", context, section="teams", status=status)


def _past(
    actor: Actor, team: Team, place: _Place, rule: Rule | None, rule_id: str
) -> dict[str, Any]:
    """Return the past calls that a complete rule is about; of one about all requests, those."""
    if rule is None:
        return {"strip": None, "met": None}
    named = replace(rule, id=rule_id or free_id(place.policy, rule.id))
    met = None if rule.is_about_calls else met_requests(actor, team, place.policy, named)
    return {"strip": strip_of(actor, team, place.policy, named), "met": met}


def _policy_of_rule(form: RuleForm, place: _Place, types: Mapping[str, str]) -> Policy | None:
    """Return a policy with the rule of the form alone, None while that is not complete."""
    written = rule_json(form, "rule", types)
    document = {**place.policy.to_json(), "rules": [written.rule]}
    try:
        policy = parse_policy(document)
    except PolicyError:
        return None
    return None if written.problems else policy


def _argument_options(types: Mapping[str, str]) -> list[tuple[str, str]]:
    return [
        (fact, gettext(_TYPES[kind]) if kind in _TYPES else "")
        for fact, kind in types.items()
        if fact not in _FACTS
    ]


def _fact_options() -> list[tuple[str, str]]:
    return [(fact, gettext(words)) for fact, (_, words) in _FACTS.items()]


def _side(
    side: str,
    form: RuleForm,
    types: Mapping[str, str],
    place: _Place,
    problems: Mapping[str, str],
) -> dict[str, Any]:
    rows = [
        _row(f"{side}-{number}", number + 1, row, types, place, problems)
        for number, row in enumerate(form.rows[side])
    ]
    return {"name": side, "rows": rows, "problem": problems.get(f"add-{side}", "")}


def _row(
    at: str,
    number: int,
    row: Row,
    types: Mapping[str, str],
    place: _Place,
    problems: Mapping[str, str],
) -> dict[str, Any]:
    kind = types.get(row.fact, "string" if row.fact in TEXT_FACTS else "")
    comparisons = [
        (name, gettext(item.words), name == row.comparison)
        for name, item in COMPARISONS.items()
        if not kind or kind == "array" or kind in item.types.split() or name == row.comparison
    ]
    choices = {
        "/environment": place.environments,
        "/agent": place.agents,
        "/tool": [tool.name for tool in place.tools],
        "/local_time": list(place.policy.calendars),
        "/requester/groups": place.groups,
    }
    return {
        "at": at,
        "number": number,
        "row": row,
        "comparisons": comparisons,
        "each": [(name, gettext(text), name == row.each) for name, text in _EACH.items()],
        "has_each": kind == "array" or row.each or (not kind and row.fact),
        "values": ["true", "false"] if kind == "boolean" else choices.get(row.fact, []),
        "problem": problems.get(f"{at}-value") or problems.get(f"{at}-fact"),
        "text_problem": problems.get(f"{at}-text"),
    }


def _people(
    form: RuleForm, place: _Place, problems: Mapping[str, str]
) -> list[tuple[str, str, str, str]]:
    """Return the slots to fill: the key, the words, the number, and the problem."""
    words = {"role:reviewer": gettext("reviewers"), "role:admin": gettext("administrators")}
    keys = [*words, *(f"group:{name}" for name in place.groups)]
    keys += [key for key in form.people if key not in keys and form.people[key]]
    return [
        (
            key,
            words.get(key) or gettext("of the group {name}").format(name=key.partition(":")[2]),
            form.people.get(key, ""),
            problems.get(f"people-{key}", ""),
        )
        for key in keys
    ]
