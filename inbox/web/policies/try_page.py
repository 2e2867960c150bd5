"""The page that tries a policy on one request, or on a call that was typed."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_noop

from agents.agui import strict_json
from inbox.queries.people.members import TeamAccess, team_access
from inbox.queries.policies.backtests import policy_to_try, require_drafting
from inbox.queries.policies.policies import policy_state
from inbox.queries.policies.trials import Call, Trial, agents_of, recent_requests, try_policy
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.rules.policies.language.policy import Effect, Mode
from inbox.rules.policies.language.sentences import explanation, match_sentence
from inbox.rules.policies.operators import Truth
from inbox.rules.text.messages import TranslatableMessage
from inbox.web.base.pages import page, post_page, show
from inbox.web.base.translate import translate
from inbox.web.people.teams import team_frame

FIELDS = ("policy", "request", "tool", "agent", "arguments", "at")
_EFFECTS = {
    Effect.ALLOW: (gettext_noop("The policy approves this."), "ok"),
    Effect.ASK: (gettext_noop("People are asked."), "line"),
    Effect.DENY: (gettext_noop("The policy denies this."), "bad"),
}
_TRUTHS = {
    Truth.YES: gettext_noop("Holds"),
    Truth.NO: gettext_noop("Does not hold"),
    Truth.UNKNOWN: gettext_noop("In doubt"),
}


@page
def form(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return _show(request, actor, _access(actor, team), {"arguments": "{}"})


@post_page
def run(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    access = _access(actor, team)
    fields = {name: request.POST.get(name, "").strip() for name in FIELDS}
    try:
        trial = _try(actor, access, fields)
    except errors.InvalidInput as refusal:
        notice = translate(refusal.message)
        return _show(request, actor, access, fields, notice=notice, status=422)
    return _show(request, actor, access, fields, result=_result(trial))


def _try(actor: Actor, access: TeamAccess, fields: dict[str, str]) -> Trial:
    number = fields["policy"]
    is_number = number.isascii() and number.isdecimal() and len(number) < 9
    policy = policy_to_try(access.team.pk, version=int(number) if is_number else None)
    if fields["request"]:
        return try_policy(
            actor, access.team, policy, call=Call(), request=_request_id(fields["request"])
        )
    call = Call(
        tool=fields["tool"] or None,
        agent=fields["agent"] or None,
        arguments=_arguments(fields["arguments"]),
        at=_time(fields["at"]),
    )
    return try_policy(actor, access.team, policy, call=call)


def _request_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise errors.NotFound() from error


def _arguments(text: str) -> Any:
    try:
        arguments = strict_json.loads(text) if text else None
    except (ValueError, RecursionError) as error:
        raise errors.InvalidInput(
            TranslatableMessage("This is not valid JSON: {error}.", error=str(error)[:200])
        ) from error
    if arguments is not None and not isinstance(arguments, dict):
        raise errors.InvalidInput(TranslatableMessage("The arguments must be a JSON object."))
    return arguments


def _time(text: str) -> datetime | None:
    """Return the time of a `datetime-local` field, in UTC."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None
    except ValueError as error:
        raise errors.InvalidInput(TranslatableMessage("Enter a date and a time.")) from error


def _access(actor: Actor, team: str) -> TeamAccess:
    access = team_access(actor, team)
    require_drafting(actor, access.team.pk)
    return access


def _show(
    request: HttpRequest,
    actor: Actor,
    access: TeamAccess,
    fields: dict[str, str],
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    state = policy_state(actor, access.team.pk)
    context = {
        "draft": state.draft,
        "version": state.version,
        "requests": [(str(pk), title, at) for pk, title, at in recent_requests(actor, access.team)],
        "agents": agents_of(actor, access.team),
        "form": dict.fromkeys(FIELDS, "") | fields,
        "result": None,
        **team_frame(actor, access, "policy"),
        **more,
    }
    return show(request, actor, "policies/try.html", context, section="teams", status=status)


def _result(trial: Trial) -> dict[str, Any]:
    text, tone = _EFFECTS[trial.ruling.effect]
    return {
        "effect": gettext(text),
        "tone": tone,
        "explanation": explanation(trial.ruling, translate),
        "rules": [
            {
                "title": rule.title,
                "truth": gettext(_TRUTHS[match.truth]),
                "is_applied": match.applied,
                "is_shadow": rule.mode is Mode.SHADOW,
                # A shadow rule that holds would be described as overruled.
                "sentence": ""
                if rule.mode is Mode.SHADOW and match.truth is Truth.YES
                else match_sentence(match, translate),
            }
            for rule, match in trial.matches
        ],
    }
