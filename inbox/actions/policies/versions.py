"""Drafting and publishing the policy of a team."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from agents.agui import strict_json
from inbox.actions.audit import audit_trail
from inbox.actions.notifications.announcements import announce_publication
from inbox.actions.team_lock import lock_permitted_team
from inbox.actions.webhooks import outbox
from inbox.models import PolicyDraft, PolicyVersion, Team
from inbox.platform.clock import database_now
from inbox.rules import errors
from inbox.rules.decisions.consent import digest
from inbox.rules.people.access import Actor, Permission
from inbox.rules.policies.language.document import parse_policy
from inbox.rules.policies.language.policy import canonical_body
from inbox.rules.text.messages import TranslatableMessage

MAX_COMMENT_CHARACTERS = 500


@transaction.atomic(durable=True)
def save_draft(
    *, team_id: UUID, body: Any, actor: Actor, check_seen: Callable[[], object] = lambda: None
) -> PolicyDraft:
    """
    Store the draft of a team's policy, which rules on nothing until it is published.

    Safe to replay: the same draft again writes no audit entry.

    Raises:
        NotFound, Forbidden.
        PolicyError: the document is not a policy.
        Any error of `check_seen`, which is called under the lock.
    """
    lock_permitted_team(team_id, actor, Permission.ADMIN)
    check_seen()
    text = canonical_body(parse_policy(body))
    draft = PolicyDraft.objects.filter(team=team_id).first()
    if draft is not None and draft.body == text:
        return draft
    now = database_now()
    draft, _ = PolicyDraft.objects.update_or_create(
        team_id=team_id,
        defaults={
            "body": text,
            "author_id": actor.person_id,
            "author_label": actor.label[:160],
            "author_people": sorted(actor.person_ids),
            "changed_at": now,
        },
    )
    audit_trail.record("policy.drafted", actor, now, team_id=team_id, digest=digest(text))
    return draft


@transaction.atomic(durable=True)
def discard_draft(*, team_id: UUID, actor: Actor) -> None:
    """
    Delete the draft of a team's policy. Safe to replay.

    Raises:
        NotFound, Forbidden.
    """
    lock_permitted_team(team_id, actor, Permission.ADMIN)
    count, _ = PolicyDraft.objects.filter(team=team_id).delete()
    if count:
        audit_trail.record("policy.discarded", actor, database_now(), team_id=team_id)


@transaction.atomic(durable=True)
def publish_draft(
    *,
    team_id: UUID,
    actor: Actor,
    comment: str = "",
    seen_digest: str = "",
) -> PolicyVersion:
    """
    Put the draft in force as the next version. Open interrupts keep the rulings that they have.

    Raises:
        NotFound: there is no draft.
        Forbidden.
        InvalidValue: the comment is too long, the draft is the version in force or cannot be read,
            or it requires what is not enforced yet.
        SecondAdministratorRequired: the team wants another administrator than the author.
        PolicyChanged: the draft is not the one with `seen_digest`, unless that is "".
    """
    team = lock_permitted_team(team_id, actor, Permission.ADMIN)
    check_comment(comment)
    draft = PolicyDraft.objects.filter(team=team_id).first()
    if draft is None:
        raise errors.NotFound()
    if seen_digest not in ("", draft.digest):
        raise errors.PolicyChanged(
            TranslatableMessage(
                "{author} has changed the draft in the meantime. Check it before publishing.",
                author=draft.author_label,
            )
        )
    if team.two_administrators and (actor.user_id is None or draft.is_by(actor.user_id)):
        raise errors.SecondAdministratorRequired(
            TranslatableMessage(
                "Another administrator than {author} has to publish this policy: nobody who saved "
                "the draft, or had the key that did.",
                author=draft.author_label,
            )
        )
    _check_readable(draft)
    version = _publish(team, draft, actor, comment)
    draft.delete()
    return version


def check_comment(comment: str) -> None:
    """Raise InvalidValue if a comment on a version is too long."""
    if len(comment) > MAX_COMMENT_CHARACTERS:
        raise errors.InvalidValue(
            TranslatableMessage(
                "A comment has at most {most} characters.", most=MAX_COMMENT_CHARACTERS
            )
        )


def _check_readable(draft: PolicyDraft) -> None:
    """Parse the draft again: the rules for documents may have changed since it was stored."""
    try:
        parse_policy(strict_json.loads(draft.body))
    except (ValueError, RecursionError) as error:
        raise errors.InvalidValue(
            TranslatableMessage("The draft cannot be read. Save it again, or discard it.")
        ) from error


def _publish(team: Team, draft: PolicyDraft, actor: Actor, comment: str) -> PolicyVersion:
    before = team.policy_version
    if before is not None and before.body == draft.body:
        raise errors.InvalidValue(
            TranslatableMessage("The draft is the same as the policy in force.")
        )
    now = database_now()
    version = store_version(
        team, draft.body, actor=actor, author_label=draft.author_label, comment=comment, now=now
    )
    team.policy_version = version
    team.save(update_fields=["policy_version"])
    outbox.policy_published(team=team, version=version, now=now)
    return version


def store_version(
    team: Team | None,
    body: str,
    *,
    actor: Actor,
    author_label: str,
    comment: str,
    now: datetime,
) -> PolicyVersion:
    """Store the next version of a team or, for None, of the installation; the caller locks them."""
    last = PolicyVersion.objects.filter(team=team).aggregate(last=Max("number"))["last"]
    version = PolicyVersion.objects.create(
        team=team,
        number=(last or 0) + 1,
        body=body,
        digest=digest(body),
        comment=comment,
        author_label=author_label,
        published_by_id=actor.user_id,
        publisher_label=actor.label[:160],
        published_at=now,
    )
    audit_trail.record(
        "policy.published",
        actor,
        now,
        **({"team_id": team.pk} if team else {}),
        version=version.number,
        digest=version.digest,
        author=author_label,
        comment=comment,
        policy=audit_trail.inline_text(body),
    )
    announce_publication(version, now)
    return version
