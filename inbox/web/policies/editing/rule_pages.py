"""The page of one rule of a policy, which is written as a sentence, and the strip below it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext, gettext_noop

from inbox.platform import clock
from inbox.queries.people.members import team_access
from inbox.queries.policies.met_requests import met_requests
from inbox.queries.policies.policies import policy_state
from inbox.rules import errors
from inbox.rules.decisions.value_diff import word_pieces
from inbox.rules.people.access import Actor
from inbox.rules.policies.impact import limit_of
from inbox.rules.policies.language.document import PolicyError, parse_policy
from inbox.rules.policies.language.policy import Mode, Policy, Rule, Via
from inbox.rules.policies.language.sentences import rule_sentence
from inbox.web.base.pages import page, post_page, show
from inbox.web.base.translate import translate
from inbox.web.people.teams import team_frame
from inbox.web.policies.editing.drafts import base_digest, change_draft, free_id, rule_of
from inbox.web.policies.editing.rule_form import (
    SIDES,
    Row,
    RuleForm,
    RuleJson,
    form_of,
    read_form,
    rule_json,
    tool_names,
    tools_of,
)
from inbox.web.policies.editing.rule_line import RuleLine
from inbox.web.policies.editing.rule_line import field as form_field
from inbox.web.policies.editing.rule_place import Place, place_of
from inbox.web.policies.editing.rule_templates import TEMPLATES
from inbox.web.policies.rule_strip import strip_of

if TYPE_CHECKING:
    from inbox.models import Team

MODES = {
    Mode.ENFORCE: (gettext_noop("In force"), gettext_noop("From the next publishing on.")),
    Mode.SHADOW: (
        gettext_noop("Shadow"),
        gettext_noop("Recorded for each request, without an effect."),
    ),
    Mode.OFF: (gettext_noop("Off"), gettext_noop("Not evaluated.")),
}
#: The buttons that lead to publishing, and the mode that they give the rule.
_PUBLISHING = {"shadow": Mode.SHADOW, "publish": Mode.ENFORCE}
_WAYS = {
    Via.WEB: gettext_noop("the inbox"),
    Via.REST: gettext_noop("the REST API"),
    Via.AGUI: gettext_noop("AG-UI clients"),
    Via.LINK: gettext_noop("links in e-mails"),
    Via.CHAT: gettext_noop("chats"),
}
_MORE = ("name", "via", "grantable", "fresh", "steps", "mode", "add-unless")


@dataclass(frozen=True)
class _State:
    """A form with the id of its rule, "" before it is saved, and why it is not saved."""

    form: RuleForm
    rule_id: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)
    notice: str = ""
    is_saved: bool = False

    @property
    def status(self) -> int:
        return 409 if self.notice else 422 if self.problems else 200


# -- views


@page
def new_rule(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    place = place_of(actor, team)
    form = RuleForm()
    if (name := request.GET.get("template", "")) in TEMPLATES:
        form = TEMPLATES[name][1](place.tools, list(place.policy.calendars))
    return _show(request, actor, team, place, _State(form))


@page
def rule(request: HttpRequest, actor: Actor, team: str, rule_id: str) -> HttpResponse:
    place = place_of(actor, team)
    if (stored := rule_of(place.policy, rule_id)) is None:
        raise errors.NotFound()
    form = form_of(stored, place.types(tools_of(stored)))
    return _show(request, actor, team, place, _State(form, rule_id))


@post_page
def add_rule(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    # The script has saved the rule meanwhile, if it has an id.
    return _save(request, actor, team, request.POST.get("rule_id", ""))


@post_page
def save_rule(request: HttpRequest, actor: Actor, team: str, rule_id: str) -> HttpResponse:
    return _save(request, actor, team, rule_id)


@post_page
def strip(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    """Return the sentence and the strip of a form that is being written; `save` stores it, too."""
    place = place_of(actor, team)
    state = _State(_posted(request.POST), request.POST.get("rule_id", ""))
    if "save" in request.POST:
        place, state = _stored(request, actor, place, state)
    context = _live_context(actor, team_access(actor, team).team, place, state)
    return render(request, "policies/rule_live.html", {**context, "is_live": True})


def _save(request: HttpRequest, actor: Actor, team: str, rule_id: str) -> HttpResponse:
    """Save the rule of a form, or show the form again with a row more or less."""
    place = place_of(actor, team)
    state = _State(_posted(request.POST), rule_id)
    if "save" not in request.POST:
        return _show(request, actor, team, place, state)
    place, state = _stored(request, actor, place, state)
    if not state.is_saved:
        return _show(request, actor, team, place, state)
    review = "?review=1#draft" if request.POST["save"] in _PUBLISHING else ""
    return HttpResponseRedirect(reverse("team_policy", args=[team]) + review, status=303)


def _posted(post: QueryDict) -> RuleForm:
    """Return the posted form, with what its buttons change; `read_form` leaves out removed rows."""
    name, _, value = post.get("set", "").partition("=")
    if name.endswith("-value"):
        post = post.copy()
        post[name] = value
    form = read_form(post)
    if (mode := _PUBLISHING.get(post.get("save", ""))) is not None:
        form = replace(form, mode=mode.value)
    side = post.get("add", "")
    if side not in SIDES:
        return form
    return replace(form, rows={**form.rows, side: [*form.rows[side], Row()]})


def _stored(
    request: HttpRequest, actor: Actor, place: Place, state: _State
) -> tuple[Place, _State]:
    """Save the form in the draft; return the policy as it is then, and the errors otherwise."""
    form = state.form
    name = slugify(form.name) or slugify("-".join(tool_names(form)))
    rule_id = state.rule_id or free_id(place.policy, name)
    written = rule_json(form, rule_id, place.types(tool_names(form)))
    if written.problems:
        problems = {name: translate(text) for name, text in written.problems.items()}
        return place, replace(state, problems=problems)
    position = 0

    def with_rule(policy: Policy) -> dict[str, Any]:
        nonlocal position
        document = policy.to_json()
        ids = [item["id"] for item in document["rules"]]
        position = ids.index(rule_id) if rule_id in ids else len(ids)
        document["rules"][position : position + 1] = [written.rule]
        enforced = rule_of(place.in_force, rule_id)
        is_tried = request.POST["save"] == "shadow"
        if is_tried and enforced and enforced.mode is Mode.ENFORCE:
            # Trying a change must not switch off the rule that it changes.
            copy = {**written.rule, "id": free_id(policy, rule_id)}
            document["rules"][position : position + 1] = [enforced.to_json(), copy]
            position += 1
        return document

    try:
        change_draft(
            team_id=place.team_id,
            actor=actor,
            seen_digest=request.POST.get("seen", ""),
            change=with_rule,
        )
    except PolicyError as refusal:
        return place, replace(state, problems=_problems(refusal, written, f"/rules/{position}"))
    except errors.PolicyChanged as refusal:
        return place, replace(state, notice=translate(refusal.message))
    digest = base_digest(policy_state(actor, place.team_id))
    return replace(place, digest=digest), replace(state, rule_id=rule_id, is_saved=True)


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
    request: HttpRequest, actor: Actor, team: str, place: Place, state: _State
) -> HttpResponse:
    access, form, problems = team_access(actor, team), state.form, state.problems
    context = {
        **_live_context(actor, access.team, place, state),
        **team_frame(actor, access, "policy"),
        "title": form.name or state.rule_id,
        "problems": problems,
        "notice": state.notice,
        "has_more_problems": any(name in problems for name in _MORE),
        "modes": [
            (value, gettext(word), gettext(text), form.mode == value)
            for value, (word, text) in MODES.items()
        ],
        "name_field": form_field(
            "name",
            gettext("Name"),
            form.name,
            at="f",
            most=100,
            help=gettext("Requests name the rule that decided or asked."),
            problem=problems.get("name", ""),
        ),
        "fresh_field": form_field(
            "fresh",
            gettext("Minutes since the sign-in, at most"),
            form.fresh,
            at="f",
            most=6,
            mode="numeric",
            problem=problems.get("fresh", ""),
        ),
        "self_approval_field": form_field(
            "self_approval",
            gettext("May requesters approve their own requests?"),
            at="f",
            options=[
                ("", gettext("as the team's setting says"), form.self_approval == ""),
                ("no", gettext("no"), form.self_approval == "no"),
                ("yes", gettext("yes"), form.self_approval == "yes"),
            ],
        ),
        "steps_field": form_field(
            "steps",
            gettext("Reminders and escalation as JSON"),
            form.steps,
            at="f",
            rows=3,
            problem=problems.get("steps", ""),
        ),
        "ways": [(way, gettext(text), way in form.via) for way, text in _WAYS.items()],
        "calendars": place.policy.calendars,
    }
    return show(request, actor, "policies/rule.html", context, section="teams", status=state.status)


def _live_context(actor: Actor, team: Team, place: Place, state: _State) -> dict[str, Any]:
    """Return the parts of the page that follow the form."""
    form, rule_id = state.form, state.rule_id
    written = rule_json(form, "rule", place.types(tool_names(form)))
    policy = _policy_of(written, place)
    parsed = policy.rules[0] if policy else None
    past: dict[str, Any] = {"strip": None, "met": None}
    if parsed:
        named = replace(parsed, id=rule_id or free_id(place.policy, parsed.id))
        if not parsed.is_about_calls:
            past["met"] = met_requests(actor, team, place.policy, named)
        limit = limit_of(parsed)
        at = written.fields.get(f"/when/{parsed.when.index(limit)}", "") if limit else ""
        past["strip"] = strip_of(actor, team, place.policy, named, limit_field=at)
    limits = past["strip"]["limits"] if past["strip"] else {}
    line = RuleLine(form, place, state.problems)
    return {
        **past,
        "is_live": False,
        "team": team,
        "form": form,
        "rule_id": rule_id,
        "seen": place.digest,
        "line": line.sentence(limits),
        "deadline": line.deadline(),
        "saved_at": clock.now() if state.is_saved else None,
        "not_saved": state.notice or next(iter(state.problems.values()), ""),
        "is_conflict": bool(state.notice),
        "is_complete": parsed is not None,
        **_difference(place, rule_id, parsed),
    }


def _policy_of(written: RuleJson, place: Place) -> Policy | None:
    """Return a policy with the rule of a form alone, None while that is not complete."""
    if written.problems:
        return None
    try:
        return parse_policy({**place.policy.to_json(), "rules": [written.rule]})
    except PolicyError:
        return None


def _difference(place: Place, rule_id: str, parsed: Rule | None) -> dict[str, Any]:
    """Return how a rule differs from the one in force, as words of its sentence."""
    before = rule_of(place.in_force, rule_id) if rule_id else None
    texts = [rule_sentence(item, translate) for item in (before, parsed) if item]
    return {
        "in_force": place.version.number if place.version else 0,
        "is_new": before is None and place.version is not None,
        "pieces": word_pieces(texts[0], texts[1]) if len(set(texts)) == 2 else (),
    }
