"""The entrances through which interrupts are answered, and the checks that apply at each."""

from enum import StrEnum

from inbox.rules import errors
from inbox.rules.text.messages import TranslatableMessage


class Entrance(StrEnum):
    """How an answer came in. A new entrance has to be added here, and to `CHECKS`."""

    PAGE = "page"
    BULK_PAGE = "bulk_page"
    REST = "rest"
    BULK_REST = "bulk_rest"
    AGUI_HTTP = "agui_http"
    AGUI_WEBSOCKET = "agui_websocket"
    CANCEL_PAGE = "cancel_page"  #: a reviewer cancels the interrupted run, and so its interrupts
    CANCEL_REST = "cancel_rest"
    REQUESTER = "requester"  #: whoever started the run cancels it
    EXPIRY = "expiry"  #: the system, for interrupts that nobody answered in time


class Check(StrEnum):
    """One thing that must hold before an answer is stored, in the order in which it is checked."""

    ACTOR = "actor"  #: the key works, the session is alive, the person is active and may decide
    REQUESTER = "requester"  #: as `actor`, but the actor started the run and may run the agent
    ENTRANCE = "entrance"  #: the team takes answers outside of its inbox
    CLAIM = "claim"  #: no other person has claimed the interrupt; machines are exempt
    TIME = "time"  #: the interrupt has not expired
    VIEW_REQUIRED = "view_required"  #: the answer names what was shown, whatever the team says
    VIEW = "view"  #: what was shown is what is asked now
    BULK = "bulk"  #: the interrupt may be answered together with others
    PAYLOAD = "payload"  #: the payload fits the response schema
    MASKS = "masks"  #: the payload has no mask in the place of a value
    SEEN = "seen"  #: people reveal what is masked, or say that they approve without seeing it


_ANSWER = frozenset(Check) - {Check.BULK, Check.REQUESTER}
#: AG-UI shows everything whole, and together nothing is decided that is masked.
_AGUI = _ANSWER - {Check.VIEW_REQUIRED, Check.SEEN}
_BULK = (_ANSWER | {Check.BULK}) - {Check.SEEN}
#: Decisions made by people in the inbox, which is all that some teams allow.
_INBOX = frozenset(Check) - {Check.ENTRANCE}
#: Nothing is approved or stored but the cancellation, so nothing has to be shown before.
_CANCEL = frozenset({Check.ACTOR, Check.ENTRANCE, Check.CLAIM})

CHECKS: dict[Entrance, frozenset[Check]] = {
    Entrance.PAGE: _ANSWER & _INBOX,
    Entrance.BULK_PAGE: _BULK & _INBOX,
    Entrance.REST: _ANSWER,
    Entrance.BULK_REST: _BULK,
    Entrance.AGUI_HTTP: _AGUI,
    Entrance.AGUI_WEBSOCKET: _AGUI,
    Entrance.CANCEL_PAGE: _CANCEL & _INBOX,
    Entrance.CANCEL_REST: _CANCEL,
    # A claim reserves the decision; it does not keep requesters from cancelling what they asked.
    Entrance.REQUESTER: frozenset({Check.REQUESTER}),
    # The system closes what is late: nobody is shown anything, and no payload is stored.
    Entrance.EXPIRY: frozenset(),
}

AGUI = frozenset({Entrance.AGUI_HTTP, Entrance.AGUI_WEBSOCKET})

#: Where a whole run is cancelled, and so all that it has open.
CANCELLATIONS = frozenset({Entrance.CANCEL_PAGE, Entrance.CANCEL_REST, Entrance.REQUESTER})


def check_view(*, sent: str, shown: str, is_required: bool) -> None:
    """
    Raise unless the digest that was sent is that of what is shown now.

    Raises:
        ViewDigestRequired: there is none, and the entrance or the team requires one.
        ViewChanged: it is another one.
    """
    if not sent:
        if is_required:
            raise errors.ViewDigestRequired(
                TranslatableMessage("Send the interrupt's view digest with the answer.")
            )
    elif sent != shown:
        raise errors.ViewChanged(
            TranslatableMessage("The request changed after the page was loaded.")
        )


def check_outside_of_inbox(*, inbox_only: bool) -> None:
    """Raise InboxOnly if the team takes answers from its inbox only."""
    if inbox_only:
        raise errors.InboxOnly(
            TranslatableMessage(
                "This team requires decisions in the inbox. Open the request there."
            )
        )
