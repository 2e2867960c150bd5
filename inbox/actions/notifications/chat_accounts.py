"""Accounts in chats that people connect to their accounts here, and approvals by them."""

import secrets
from datetime import timedelta
from uuid import UUID

from django.db import transaction

from inbox.actions.audit.rejections import audit_rejected
from inbox.actions.decisions.decide import decide
from inbox.actions.people.accounts import record_change
from inbox.models import ChatIdentity, ChatLinkCode, Decision, Endorsement, Interrupt
from inbox.platform.clock import database_now
from inbox.queries.notifications.recipients import person_of
from inbox.queries.notifications.slack_apps import CHAT_METHOD, actor_of_chat, link_code
from inbox.queries.people.api_key_tokens import digest_token
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import Actor, ActorKind
from inbox.rules.runs.states import EntryStatus
from inbox.rules.text.messages import TranslatableMessage

CODE_LIFETIME = timedelta(minutes=15)
_CODE_BYTES = 32
#: How accounts in chats are connected: by a code that only the account sees in its chat.
_METHOD = "code"


def approve_by_chat(
    *, team_id: UUID, workspace: str, external_id: str, interrupt_id: UUID, view_digest: str
) -> Decision | Endorsement:
    """
    Approve a request of the team as the person who has connected an account in a chat to it.

    The caller has verified that the chat sent this. Safe to replay.

    Raises:
        NotFound: the team has no such request, or the person may not see it.
        ChatUnknown: nobody has connected the account.
        RequestRejected: as `decide` does.
    """
    if not Interrupt.objects.filter(pk=interrupt_id, team=team_id).exists():
        raise errors.NotFound()
    actor = actor_of_chat(team_id, workspace, external_id)
    if actor is None:
        stranger = Actor(ActorKind.HUMAN, f"Slack {workspace}/{external_id}", method=CHAT_METHOD)
        with audit_rejected("decide", actor=stranger, interrupt_id=interrupt_id):
            raise errors.ChatUnknown(
                TranslatableMessage("Your chat account is not connected to an account here.")
            )
    return decide(
        interrupt_id=interrupt_id,
        status=EntryStatus.RESOLVED,
        payload={"approved": True},
        actor=actor,
        view_digest=view_digest,
        entrance=Entrance.CHAT,
    )


@transaction.atomic(durable=True)
def issue_link_code(*, team_id: UUID, workspace: str, external_id: str, name: str) -> str:
    """Return a new one-time code for an account in a chat of a team; a former one ends."""
    code = secrets.token_urlsafe(_CODE_BYTES)
    row = ChatLinkCode(
        digest=digest_token(code),
        team_id=team_id,
        workspace=workspace,
        external_id=external_id,
        name=name,
        expires_at=database_now() + CODE_LIFETIME,
    )
    # One statement: presses of one account may come at the same time.
    ChatLinkCode.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["team", "workspace", "external_id"],
        update_fields=["digest", "name", "expires_at"],
    )
    return code


@transaction.atomic(durable=True)
def link_chat_account(*, code: str, account: str, actor: Actor) -> ChatIdentity:
    """
    Connect the account in a chat that got this code to the actor, who decides by it in one team.

    The actor names the `account` as their own chat shows it to them: somebody else may have sent
    the link, and would decide in their name.

    Raises:
        Forbidden: the actor is no person.
        InvalidValue: the code is wrong, was used or has expired, it is for another account, or the
            account in the chat is connected to another person.
    """
    user_id, now = person_of(actor), database_now()
    row = link_code(code)
    if row is not None and row.external_id.upper() != account.strip().upper():
        raise errors.InvalidValue(
            TranslatableMessage(
                "This link is not for that Slack account. If you pressed the button in Slack "
                "yourself, check the member ID. If somebody sent you the link, do not use it."
            )
        )
    # Deleting the row uses the code: of two requests at the same time, one deletes it.
    if row is None or not ChatLinkCode.objects.filter(pk=row.pk, digest=row.digest).delete()[0]:
        raise errors.InvalidValue(
            TranslatableMessage(
                "This link was used or has expired. Press the button in the chat again."
            )
        )
    identity, is_new = ChatIdentity.objects.get_or_create(
        team_id=row.team_id,
        workspace=row.workspace,
        external_id=row.external_id,
        defaults={"user_id": user_id, "name": row.name, "method": _METHOD, "linked_at": now},
    )
    if identity.user_id != user_id:
        raise errors.InvalidValue(
            TranslatableMessage(
                "This chat account is connected to another person, who has to disconnect it first."
            )
        )
    if is_new:
        _record("chat.linked", identity, actor)
    return identity


@transaction.atomic(durable=True)
def unlink_chat_account(*, identity_id: UUID, actor: Actor) -> None:
    """
    Disconnect an account in a chat from the actor; it decides nothing any more.

    Raises:
        Forbidden: the actor is no person.
        NotFound: the actor has no such account.
    """
    identity = ChatIdentity.objects.filter(pk=identity_id, user=person_of(actor)).first()
    if identity is None or not ChatIdentity.objects.filter(pk=identity_id).delete()[0]:
        raise errors.NotFound()
    _record("chat.unlinked", identity, actor)


def _record(action: str, identity: ChatIdentity, actor: Actor) -> None:
    account = f"{identity.workspace}/{identity.external_id}"
    about = {"account": account, "name": identity.name, "team": str(identity.team_id)}
    record_change(identity.user_id, action, actor, **about)
