"""The requirements of policies on a person or key that decides."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from inbox.rules.decisions.gate import AGUI, Entrance
from inbox.rules.decisions.unseen import is_consent
from inbox.rules.errors import (
    Forbidden,
    NotInBulk,
    RequirementNotMet,
    SelfApproval,
    SignInTooOld,
)
from inbox.rules.people.access import Actor, ActorKind
from inbox.rules.policies.endorsements import slot_names
from inbox.rules.policies.language.policy import Slot, Via
from inbox.rules.policies.requirement import MergedRequirement
from inbox.rules.policies.slots import Person
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import Reason
from inbox.rules.text.messages import TranslatableMessage

_VIA: Final = {
    Entrance.PAGE: Via.WEB,
    Entrance.BULK_PAGE: Via.WEB,
    Entrance.REST: Via.REST,
    Entrance.BULK_REST: Via.REST,
    Entrance.AGUI_HTTP: Via.AGUI,
    Entrance.AGUI_WEBSOCKET: Via.AGUI,
}
#: The reasons that propose something; questions for input may be answered by anybody.
PROPOSALS: Final = frozenset({Reason.TOOL_CALL, Reason.CONFIRMATION})


def check_requirement(
    requirement: MergedRequirement, *, actor: Actor, entrance: Entrance, rules: Sequence[str]
) -> None:
    """
    Raise unless the policy lets the actor decide at this entrance.

    Raises:
        RequirementNotMet: the message names the rules.
    """
    names = ", ".join(rules)
    if requirement.via is not None and _VIA[entrance] not in requirement.via:
        raise RequirementNotMet(
            TranslatableMessage(
                "The team's policy ({rules}) does not accept decisions that come in this way.",
                rules=names,
            ),
            via=list(requirement.via),
        )
    if not requirement.keys and actor.kind is ActorKind.KEY:
        raise RequirementNotMet(
            TranslatableMessage(
                "The team's policy ({rules}) requires a decision by a person.", rules=names
            )
        )


def check_fresh_sign_in(minutes: int, *, actor: Actor, now: datetime, rules: Sequence[str]) -> None:
    """
    Raise unless the actor has signed in, or confirmed their identity, in the last `minutes`.

    Raises:
        SignInTooOld: the message names the rules; keys never sign in.
    """
    if actor.signed_in_at is None or now - actor.signed_in_at > timedelta(minutes=minutes):
        raise SignInTooOld(
            TranslatableMessage(
                "The team's policy ({rules}) requires a sign-in in the last {minutes} minutes.",
                rules=", ".join(rules),
                minutes=minutes,
            ),
            minutes=minutes,
        )


def check_self_approval(*, reason: str, entry: ResumeEntry) -> None:
    """
    Raise if the requester approves what their run proposes; a denial is always possible.

    Raises:
        SelfApproval.
    """
    if reason in PROPOSALS and is_consent(entry):
        raise SelfApproval(
            TranslatableMessage("You started this run, so somebody else has to approve it.")
        )


def check_entrance_of_several(
    *, actor: Actor, entrance: Entrance, rules: Sequence[str], count: int
) -> None:
    """
    Raise unless the actor can approve here what several people have to approve.

    Raises:
        Forbidden: AG-UI clients answer all interrupts of a run, which one person cannot do here.
        NotInBulk.
        RequirementNotMet: an API key is not a person.
    """
    names = ", ".join(rules)
    if entrance in AGUI:
        raise Forbidden(
            TranslatableMessage(
                "The team's policy ({rules}) requires {count} people. Approve in the inbox.",
                rules=names,
                count=count,
            )
        )
    if entrance in (Entrance.BULK_PAGE, Entrance.BULK_REST):
        raise NotInBulk(
            TranslatableMessage("Several people have to approve this. Review it on its own page.")
        )
    if actor.kind is not ActorKind.HUMAN:
        raise RequirementNotMet(
            TranslatableMessage(
                "The team's policy ({rules}) requires {count} people; a key is not a person.",
                rules=names,
                count=count,
            )
        )


def check_slot(slot: frozenset[Slot], people: Sequence[Person], *, rules: Sequence[str]) -> None:
    """
    Raise unless one of these people fits the slot.

    Raises:
        RequirementNotMet: the message names the rules and the slot.
    """
    if not any(person.fits(option) for person in people for option in slot):
        raise RequirementNotMet(
            TranslatableMessage(
                "The team's policy ({rules}) requires one of: {slots}.",
                rules=", ".join(rules),
                slots=slot_names([slot]),
            )
        )
