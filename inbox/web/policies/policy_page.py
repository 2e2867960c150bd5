"""The page of a team's policy: the version in force, the draft, and earlier versions."""

import json
import re
from dataclasses import replace
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext

from agents.agui import strict_json
from inbox.actions.policies.versions import (
    MAX_COMMENT_CHARACTERS,
    discard_draft,
    publish_draft,
)
from inbox.queries.people.access import is_installation_admin, require
from inbox.queries.people.members import TeamAccess, team_access
from inbox.queries.people.teams import team_for
from inbox.queries.policies.history.last_month import last_month
from inbox.queries.policies.known_names import known_names
from inbox.queries.policies.policies import (
    parse_stored_policy,
    policy_state,
    policy_version,
    policy_versions,
    readable_policy,
)
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.policies.language.changes import rule_changes
from inbox.rules.policies.language.policy import Mode, Policy
from inbox.rules.text.messages import TranslatableMessage
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.people.teams import team_frame
from inbox.web.policies.draft_review import change_rows, warning_texts
from inbox.web.policies.editing.calendar_form import week_text
from inbox.web.policies.editing.drafts import (
    base_digest,
    base_policy,
    change_draft,
    free_id,
    replace_draft,
    without_rule,
)
from inbox.web.policies.editing.rule_templates import TEMPLATES
from inbox.web.policies.rule_rows import everything_else, rule_row, rules_of, share_bar

VERSIONS_LISTED = 50
#: Of an uploaded file, which may be indented; a policy has fewer bytes.
MAX_FILE_BYTES = 1024 * 1024


@page
def policy(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return _show(request, actor, team)


@page
def version(request: HttpRequest, actor: Actor, team: str, number: int) -> HttpResponse:
    access = team_access(actor, team)
    row = policy_version(actor, access.team.pk, number)
    context = {
        "version": row,
        "rules": rules_of(row.body),
        "document": pretty(row.body),
        "in_force": access.team.policy_version_id == row.pk,
        "seen": base_digest(state := policy_state(actor, access.team.pk)),
        "has_draft": state.draft is not None,
        **team_frame(actor, access, "policy"),
    }
    return show(request, actor, "policies/version.html", context, section="teams")


@post_page
def save(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return _save_document(request, actor, team, request.POST.get("document", ""))


@post_page
def import_file(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    """Make an uploaded file the draft; one with errors is shown in the form."""
    require(actor, team_for(actor, team).pk, Permission.ADMIN)
    file = request.FILES.get("file")
    try:
        text = _file_text(file)
    except errors.InvalidInput as refusal:
        return _show(request, actor, team, notice=translate(refusal.message), status=422)
    return _save_document(request, actor, team, text)


def _file_text(file: "UploadedFile[Any] | None") -> str:
    if file is None:
        raise errors.InvalidInput(TranslatableMessage("Choose a file."))
    if (file.size or 0) > MAX_FILE_BYTES:
        raise errors.InvalidInput(
            TranslatableMessage("A file has at most {most} KiB.", most=MAX_FILE_BYTES // 1024)
        )
    try:
        text: str = file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise errors.InvalidInput(TranslatableMessage("The file is not UTF-8 text.")) from error
    if "\0" in text:
        raise errors.InvalidInput(TranslatableMessage("The file is not UTF-8 text."))
    return text


def _save_document(request: HttpRequest, actor: Actor, team: str, text: str) -> HttpResponse:
    team_id = team_for(actor, team).pk
    # Before the document's problems, which would not matter then.
    require(actor, team_id, Permission.ADMIN)
    try:
        replace_draft(
            team_id=team_id,
            body=parse_document(text),
            actor=actor,
            seen_digest=request.POST.get("seen", ""),
        )
    except errors.InvalidInput as refusal:
        problems = problems_of(refusal, text)
        return _show(request, actor, team, document=text, problems=problems, status=422)
    except errors.PolicyChanged as refusal:
        notice = translate(refusal.message)
        return _show(request, actor, team, document=text, notice=notice, status=409)
    return see_other("team_policy", team)


@post_page
def change_rule(request: HttpRequest, actor: Actor, team: str, rule_id: str) -> HttpResponse:
    """Delete, duplicate or move a rule, or turn it on or off, in the draft."""
    changes = {
        "delete": without_rule,
        "duplicate": _with_copy,
        "on": _enforced,
        "off": _off,
        "up": _moved_up,
        "down": _moved_down,
    }
    if (change := changes.get(request.POST.get("do", ""))) is None:
        raise errors.NotFound()
    try:
        change_draft(
            team_id=team_for(actor, team).pk,
            actor=actor,
            seen_digest=request.POST.get("seen", ""),
            change=lambda policy: change(policy, rule_id).to_json(),
        )
    except (errors.InvalidInput, errors.PolicyChanged) as refusal:
        return _show_refusal(request, actor, team, refusal)
    # The address of the row, so that the focus stays on a rule that has moved.
    return HttpResponseRedirect(f"{reverse('team_policy', args=[team])}#rule-{rule_id}", status=303)


@post_page
def restore(request: HttpRequest, actor: Actor, team: str, number: int) -> HttpResponse:
    """Make an earlier version the draft."""
    team_id = team_for(actor, team).pk
    body = policy_version(actor, team_id, number).body
    try:
        replace_draft(
            team_id=team_id,
            body=parse_document(body),
            actor=actor,
            seen_digest=request.POST.get("seen", ""),
        )
    except (errors.InvalidInput, errors.PolicyChanged) as refusal:
        return _show_refusal(request, actor, team, refusal)
    return see_other("team_policy", team)


@post_page
def publish(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    comment = request.POST.get("comment", "").strip()
    try:
        publish_draft(
            team_id=team_for(actor, team).pk,
            actor=actor,
            comment=comment,
            seen_digest=request.POST.get("digest", ""),
        )
    except (errors.InvalidInput, errors.SecondAdministratorRequired) as refusal:
        text = translate(refusal.message)
        return _show(request, actor, team, notice=text, comment=comment, status=422)
    except errors.PolicyChanged as refusal:
        return _show(request, actor, team, notice=translate(refusal.message), status=409)
    return see_other("team_policy", team)


@post_page
def discard(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    discard_draft(team_id=team_for(actor, team).pk, actor=actor)
    return see_other("team_policy", team)


def _show_refusal(
    request: HttpRequest, actor: Actor, team: str, refusal: errors.RequestRejected
) -> HttpResponse:
    """Render the page with an error: 409 if another administrator was faster, else 422."""
    status = 409 if isinstance(refusal, errors.PolicyChanged) else 422
    return _show(request, actor, team, notice=translate(refusal.message), status=status)


def _show(
    request: HttpRequest,
    actor: Actor,
    team: str,
    *,
    document: str | None = None,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    """Render the page; `document` is a refused draft, `notice` and `problems` are errors."""
    access = team_access(actor, team)
    state = policy_state(actor, access.team.pk)
    base = state.draft or state.version
    versions = policy_versions(actor, access.team.pk, limit=VERSIONS_LISTED)

    stored = base_policy(state)
    changes = rule_changes(readable_policy(state.version), stored) if state.draft else []
    month = last_month(actor, access.team.pk)
    names = known_names(access.team.pk) if access.administers else None
    context = {
        "version": state.version,
        "rules": [
            rule_row(rule, month, [change.after.id for change in changes if change.after])
            for rule in stored.rules
        ],
        "everything_else": everything_else(month),
        "bar": share_bar(month),
        "installation": (installation := state.team.installation_version),
        "installation_rules": rules_of(installation.body) if installation else [],
        "may_change_installation": is_installation_admin(actor),
        "draft": state.draft,
        "is_draft_unreadable": state.draft and parse_stored_policy(state.draft.body) is None,
        "document": document or (pretty(base.body) if base else '{\n  "rules": []\n}'),
        "edit": _edited(request, access) if document is None else "json",
        "versions": versions,
        "warnings": warning_texts(base.body, names) if base and names is not None else [],
        "needs_other_publisher": bool(
            state.draft and state.team.two_administrators and state.draft.is_by(actor.user_id)
        ),
        "changes": change_rows(readable_policy(state.version), readable_policy(state.draft))
        if state.draft
        else [],
        "templates": [(name, gettext(title)) for name, (title, _) in TEMPLATES.items()],
        "calendars": [
            (name, item.zone, week_text(item))
            for name, item in sorted(base_policy(state).calendars.items())
        ],
        "seen": base_digest(state),
        "most_comment": MAX_COMMENT_CHARACTERS,
        "problems": (),
        "comment": "",
        "is_reviewed": status != 200 or "review" in request.GET,
        **team_frame(actor, access, "policy"),
        **more,
    }
    return show(request, actor, "policies/policy.html", context, section="teams", status=status)


def _edited(request: HttpRequest, access: TeamAccess) -> str:
    """Return how the policy is edited as a whole: "json", as a "file", or "" if it is not."""
    edit = request.GET.get("edit", "") if access.administers else ""
    return edit if edit in ("json", "file") else ""


def _with_copy(policy: Policy, rule_id: str) -> Policy:
    rules = []
    for item in policy.rules:
        rules.append(item)
        if item.id == rule_id:
            name = gettext("Copy of {name}").format(name=item.title)[:100].strip()
            rules.append(replace(item, id=free_id(policy, item.id), name=name, mode=Mode.OFF))
    return replace(policy, rules=tuple(rules))


def _enforced(policy: Policy, rule_id: str) -> Policy:
    return _with_mode(policy, rule_id, Mode.ENFORCE)


def _off(policy: Policy, rule_id: str) -> Policy:
    return _with_mode(policy, rule_id, Mode.OFF)


def _moved_up(policy: Policy, rule_id: str) -> Policy:
    return _moved(policy, rule_id, -1)


def _moved_down(policy: Policy, rule_id: str) -> Policy:
    return _moved(policy, rule_id, 1)


def _moved(policy: Policy, rule_id: str, step: int) -> Policy:
    """Return the policy with a rule one place further; its order decides nothing."""
    rules = list(policy.rules)
    place = next((number for number, item in enumerate(rules) if item.id == rule_id), 0)
    if rules and 0 <= place + step < len(rules):
        rules.insert(place + step, rules.pop(place))
    return replace(policy, rules=tuple(rules))


def _with_mode(policy: Policy, rule_id: str, mode: Mode) -> Policy:
    rules = [replace(item, mode=mode) if item.id == rule_id else item for item in policy.rules]
    return replace(policy, rules=tuple(rules))


def pretty(body: str) -> str:
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return body


def parse_document(text: str) -> Any:
    try:
        return strict_json.loads(text)
    except (ValueError, RecursionError) as error:
        raise errors.InvalidInput(
            TranslatableMessage("This is not valid JSON: {error}.", error=str(error)[:200])
        ) from error


def problems_of(refusal: errors.InvalidInput, text: str) -> list[dict[str, str]]:
    """Return the problems of a document, each with the name of its rule."""
    problems = refusal.detail.get("problems")
    if not problems:
        return [{"pointer": "", "message": translate(refusal.message)}]
    names = _rule_names(text)
    return [
        {
            "pointer": problem["pointer"],
            "rule": names.get(_rule_index(problem["pointer"]), ""),
            "message": translate(problem["message"]),
        }
        for problem in problems
    ]


def _rule_names(text: str) -> dict[str, str]:
    """Return the names or ids of a document's rules by their position, as far as it has them."""
    document = parse_document(text)
    rules = document.get("rules") if isinstance(document, dict) else None
    names = {}
    for position, rule in enumerate(rules if isinstance(rules, list) else ()):
        if isinstance(rule, dict) and isinstance(name := rule.get("name") or rule.get("id"), str):
            names[str(position)] = name[:100]
    return names


def _rule_index(pointer: str) -> str:
    match = re.match(r"/rules/(\d+)(?:/|$)", pointer)
    return match[1] if match else ""
