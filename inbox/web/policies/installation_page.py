"""The page of the installation's policy, for superusers."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from inbox.actions.policies.installation import publish_installation_policy
from inbox.actions.policies.versions import MAX_COMMENT_CHARACTERS
from inbox.queries.policies.installation import (
    installation_version,
    installation_versions,
    require_installation_admin,
)
from inbox.queries.policies.policies import readable_policy
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.rules.policies.language.document import parse_policy
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.policies.draft_review import change_rows
from inbox.web.policies.policy_page import parse_document, pretty, problems_of
from inbox.web.policies.rule_rows import rules_of

VERSIONS_LISTED = 50


@page
def policy(request: HttpRequest, actor: Actor) -> HttpResponse:
    return _show(request, actor)


@page
def version(request: HttpRequest, actor: Actor, number: int) -> HttpResponse:
    """Show a version in the form, so that it can be published again."""
    row = installation_version(actor, number)
    return _show(request, actor, document=pretty(row.body), shown=number)


@post_page
def check(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Show what a document would change; nothing is stored."""
    require_installation_admin(actor)
    text, comment = request.POST.get("document", ""), request.POST.get("comment", "").strip()
    try:
        policy = parse_policy(parse_document(text), installation=True)
    except errors.InvalidInput as refusal:
        problems = problems_of(refusal, text)
        return _show(request, actor, document=text, comment=comment, problems=problems, status=422)
    versions = installation_versions(actor, limit=1)
    before = readable_policy(versions[0] if versions else None)
    changes = change_rows(before, policy)
    return _show(request, actor, document=text, comment=comment, changes=changes, is_checked=True)


@post_page
def publish(request: HttpRequest, actor: Actor) -> HttpResponse:
    require_installation_admin(actor)
    text, comment = request.POST.get("document", ""), request.POST.get("comment", "").strip()
    seen = request.POST.get("seen", "")
    if not (seen.isascii() and seen.isdecimal() and len(seen) < 10):
        raise errors.NotFound()
    try:
        publish_installation_policy(
            body=parse_document(text), actor=actor, comment=comment, seen_version=int(seen)
        )
    except errors.InvalidInput as refusal:
        problems = problems_of(refusal, text)
        return _show(request, actor, document=text, comment=comment, problems=problems, status=422)
    except errors.PolicyChanged as refusal:
        notice = translate(refusal.message)
        return _show(request, actor, document=text, comment=comment, notice=notice, status=409)
    return see_other("installation_policy")


def _show(
    request: HttpRequest, actor: Actor, *, document: str = "", status: int = 200, **more: Any
) -> HttpResponse:
    """Render the page; `document` is the one in the form, by default that in force."""
    versions = installation_versions(actor, limit=VERSIONS_LISTED)
    last = versions[0] if versions else None
    context = {
        "version": last,
        "rules": rules_of(last.body) if last else [],
        "versions": versions,
        "seen": last.number if last else 0,
        "document": document or (pretty(last.body) if last else '{\n  "rules": []\n}'),
        "comment": "",
        "most_comment": MAX_COMMENT_CHARACTERS,
        "problems": (),
        "changes": (),
        "is_checked": False,
        "shown": None,
        "notice": "",
        **more,
    }
    return show(
        request, actor, "policies/installation.html", context, section="teams", status=status
    )
