"""The requirements of policies on a person or key that decides."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from inbox.rules.decisions.approvals import approves
from inbox.rules.decisions.gate import AGUI, NAMED_ONLY, Entrance
from inbox.rules.decisions.unseen import is_consent
from inbox.rules.errors import (
    Forbidden,
    InvalidValue,
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
from inbox.rules.text.messages import TranslatableMessage

_VIA: Final = {
    Entrance.PAGE: Via.WEB,
    Entrance.BULK_PAGE: Via.WEB,
    Entrance.REST: Via.REST,
    Entrance.BULK_REST: Via.REST,
    Entrance.LINK: Via.LINK,
    Entrance.AGUI_HTTP: Via.AGUI,
    Entrance.AGUI_WEBSOCKET: Via.AGUI,
    Entrance.CHAT: Via.CHAT,
}
#: An override needs a sign-in in so many minutes, whatever the policy.
SIGN_IN_MINUTES: Final = 5
MAX_REASON_CHARACTERS: Final = 500


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


def check_way_is_named(
    requirements: Sequence[MergedRequirement | None], *, entrance: Entrance
) -> None:
    """
    Raise unless the policy names the way in, at the entrances where it has to.

    Raises:
        RequirementNotMet.
    """
    if entrance in NAMED_ONLY and not is_way_named(requirements, _VIA[entrance]):
        raise RequirementNotMet(
            TranslatableMessage(
                "The team's policy does not accept decisions that come in this way. "
                "Open the request in the inbox."
            )
        )


def is_way_named(requirements: Sequence[MergedRequirement | None], way: Via) -> bool:
    """Return whether there is a requirement, and all of them name the way."""
    return bool(requirements) and all(
        requirement is not None and requirement.via is not None and way in requirement.via
        for requirement in requirements
    )


def check_fresh_sign_in(minutes: int, *, actor: Actor, now: datetime, rules: Sequence[str]) -> None:
    """
    Raise unless the actor has signed in, or confirmed their identity, in the last `minutes`.

    Raises:
        SignInTooOld: the message names the rules; keys never sign in.
    """
    if not _is_fresh(actor, minutes, now):
        raise SignInTooOld(
            TranslatableMessage(
                "The team's policy ({rules}) requires a sign-in in the last {minutes} minutes.",
                rules=", ".join(rules),
                minutes=minutes,
            ),
            minutes=minutes,
        )


def _is_fresh(actor: Actor, minutes: int, now: datetime) -> bool:
    signed_in_at = actor.signed_in_at
    return signed_in_at is not None and now - signed_in_at <= timedelta(minutes=minutes)


def check_override(
    *,
    actor: Actor,
    entry: ResumeEntry,
    group: str,
    groups: Collection[str],
    reason: str,
    now: datetime,
) -> None:
    """
    Raise unless the actor may approve despite the policy, with this reason.

    `group` is the team's group for emergencies, "" for none; `groups` are those of the actor.

    Raises:
        Forbidden: the actor is not in the group.
        SignInTooOld: more than SIGN_IN_MINUTES have passed since the actor's last sign-in.
        InvalidValue: there is no reason or a long one, or the answer is no approval.
    """
    if actor.kind is not ActorKind.HUMAN or not group or group not in groups:
        raise Forbidden(
            TranslatableMessage("Only the group that the team has chosen can override the policy.")
        )
    if not is_consent(entry):
        raise InvalidValue(TranslatableMessage("Only an approval can override the policy."))
    if not 1 <= len(reason) <= MAX_REASON_CHARACTERS:
        raise InvalidValue(
            TranslatableMessage(
                "Give a reason of at most {most} characters.", most=MAX_REASON_CHARACTERS
            )
        )
    if not _is_fresh(actor, SIGN_IN_MINUTES, now):
        raise SignInTooOld(
            TranslatableMessage(
                "Overriding the policy requires a sign-in in the last {minutes} minutes.",
                minutes=SIGN_IN_MINUTES,
            ),
            minutes=SIGN_IN_MINUTES,
        )


def check_self_approval(entry: ResumeEntry, *, is_proposal: bool) -> None:
    """
    Raise if the requester consents to what their run asks; a denial is always possible.

    Raises:
        SelfApproval.
    """
    if approves(entry, is_proposal=is_proposal):
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
    if entrance in (Entrance.BULK_PAGE, Entrance.BULK_REST, Entrance.CHAT):
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
