"""Entrances for decisions, and the checks that apply to each."""

from enum import StrEnum

from inbox.rules import errors
from inbox.rules.text.messages import TranslatableMessage


class Entrance(StrEnum):
    """The way a decision came in. Add a new entrance here and to `CHECKS`."""

    PAGE = "page"
    BULK_PAGE = "bulk_page"
    REST = "rest"
    BULK_REST = "bulk_rest"
    LINK = "link"  #: a link of a mail to one person, who need not sign in
    AGUI_HTTP = "agui_http"
    AGUI_WEBSOCKET = "agui_websocket"
    CANCEL_PAGE = "cancel_page"  #: a reviewer cancels the interrupted run, and so its interrupts
    CANCEL_REST = "cancel_rest"
    REQUESTER = "requester"  #: the requester cancels the run
    POLICY = "policy"  #: a rule of the team's policy allows or denies the tool call
    EXPIRY = "expiry"  #: the system closes expired interrupts
    WITHDRAWAL = "withdrawal"  #: a program takes its request back
    OVERRIDE_PAGE = "override_page"  #: an emergency approval despite the team's policy
    OVERRIDE_REST = "override_rest"
    CHAT = "chat"  #: a button in a message of a chat, pressed by a person who is connected


class Check(StrEnum):
    """A condition that must hold before a decision is stored, in the order of checking."""

    ACTOR = "actor"  #: key or session are valid, the user is active and may decide
    REQUESTER = "requester"  #: as `actor`, but the actor started the run and may run the agent
    AUDIT = "audit"  #: every sink has the audit entries of before, if the setting requires it
    ENTRANCE = "entrance"  #: the team accepts decisions outside of its inbox
    CLAIM = "claim"  #: no other person has claimed the interrupt; API keys are exempt
    TIME = "time"  #: the interrupt has not expired
    VIEW_REQUIRED = "view_required"  #: a view digest is required, whatever the team's setting
    VIEW = "view"  #: the view digest is the current one
    RESTORED = "restored"  #: somebody has checked what happened after the backup
    BULK = "bulk"  #: the interrupt may be decided together with others
    PAYLOAD = "payload"  #: the payload matches the response schema
    MASKS = "masks"  #: the payload has no masks instead of values
    POLICY = "policy"  #: the team's policy lets the actor decide, and allows the edited arguments
    OVERRIDE = "override"  #: the actor may approve despite the policy, which does not deny it
    SEEN = "seen"  #: people reveal masked values, or approve explicitly without seeing them
    LINK = "link"  #: the link was made for this view, and the policy and the request allow links


_ANSWER = frozenset(Check) - {Check.BULK, Check.REQUESTER, Check.OVERRIDE, Check.LINK}
#: AG-UI clients get unmasked values; bulk decisions exclude masked values.
_AGUI = _ANSWER - {Check.VIEW_REQUIRED, Check.SEEN}
_BULK = (_ANSWER | {Check.BULK}) - {Check.SEEN}
#: Decisions in the inbox, which every team accepts.
_INBOX = frozenset(Check) - {Check.ENTRANCE}
_OVERRIDE = (_ANSWER | {Check.OVERRIDE}) - {Check.POLICY}
#: A cancellation approves nothing and has no payload, so it needs no view.
_CANCEL = frozenset({Check.ACTOR, Check.ENTRANCE, Check.CLAIM})

CHECKS: dict[Entrance, frozenset[Check]] = {
    Entrance.PAGE: _ANSWER & _INBOX,
    Entrance.BULK_PAGE: _BULK & _INBOX,
    Entrance.REST: _ANSWER,
    Entrance.BULK_REST: _BULK,
    Entrance.LINK: _ANSWER | {Check.LINK},
    Entrance.AGUI_HTTP: _AGUI,
    Entrance.AGUI_WEBSOCKET: _AGUI,
    Entrance.CANCEL_PAGE: _CANCEL & _INBOX,
    Entrance.CANCEL_REST: _CANCEL,
    # A claim reserves the decision; requesters may still cancel their run.
    Entrance.REQUESTER: frozenset({Check.REQUESTER}),
    # Rules answer in the transaction that opens the interrupt, before anybody has seen it.
    Entrance.POLICY: frozenset({Check.TIME, Check.PAYLOAD}),
    # The system closes expired interrupts: no view, no payload.
    Entrance.EXPIRY: frozenset(),
    # The action has checked the program; a claim does not keep it from taking back its request.
    Entrance.WITHDRAWAL: frozenset(),
    Entrance.OVERRIDE_PAGE: _OVERRIDE & _INBOX,
    Entrance.OVERRIDE_REST: _OVERRIDE,
    # A message shows what the table of a bulk review shows, and nothing can be revealed there.
    Entrance.CHAT: _BULK,
}

AGUI = frozenset({Entrance.AGUI_HTTP, Entrance.AGUI_WEBSOCKET})

#: The entrances at which an approval may also allow further calls.
GRANTING = frozenset({Entrance.PAGE, Entrance.REST})

#: The entrances at which a person approves despite the policy, and gives a reason.
OVERRIDES = frozenset({Entrance.OVERRIDE_PAGE, Entrance.OVERRIDE_REST})

#: The entrances that a policy has to name, as people do not see the whole request there.
NAMED_ONLY = frozenset({Entrance.CHAT})

#: The entrances that cancel a whole run with its open interrupts.
CANCELLATIONS = frozenset({Entrance.CANCEL_PAGE, Entrance.CANCEL_REST, Entrance.REQUESTER})


def check_view(*, sent: str, current: str, is_required: bool) -> None:
    """
    Raise unless the view digest that the client sent is the current one.

    Raises:
        ViewDigestRequired: it is missing, and the entrance or the team requires one.
        ViewChanged: it is not the current one.
    """
    if not sent:
        if is_required:
            raise errors.ViewDigestRequired(
                TranslatableMessage("Send the interrupt's view digest with the answer.")
            )
    elif sent != current:
        raise errors.ViewChanged(
            TranslatableMessage("The request changed after the page was loaded.")
        )


def check_outside_of_inbox(*, inbox_only: bool) -> None:
    """Raise InboxOnly if the team accepts decisions in its inbox only."""
    if inbox_only:
        raise errors.InboxOnly(
            TranslatableMessage(
                "This team requires decisions in the inbox. Open the request there."
            )
        )
