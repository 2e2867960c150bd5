"""Requirements of a team on the sign-ins of its members."""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any

from inbox.rules.errors import InvalidValue
from inbox.rules.text.messages import TranslatableMessage


class RequiredSignIn(StrEnum):
    """The sign-ins that enter a team."""

    ANY = "any"
    SECOND_FACTOR = "second_factor"  #: a second factor or a passkey, here or at a provider
    PROVIDER = "provider"  #: at an identity provider


class Proof(StrEnum):
    """A way in which the person of a session has proved who they are."""

    SECOND_FACTOR = "second_factor"
    PROVIDER = "provider"


_ACCEPTED: Mapping[RequiredSignIn, Collection[Proof]] = {
    RequiredSignIn.SECOND_FACTOR: (Proof.SECOND_FACTOR,),
    RequiredSignIn.PROVIDER: (Proof.PROVIDER,),
}


def proofs_in(steps: Sequence[Mapping[str, Any]]) -> frozenset[Proof]:
    """Return the proofs of a session from the steps that django-allauth stores in it."""
    proofs = set()
    for step in steps:
        if step.get("method") == "socialaccount":
            proofs.add(Proof.PROVIDER)
        if step.get("method") == "mfa" or step.get("has_second_factor") is True:
            proofs.add(Proof.SECOND_FACTOR)
    return frozenset(proofs)


def is_met(required: str, proofs: Collection[Proof]) -> bool:
    """Return whether a session with these proofs enters a team that requires this sign-in."""
    accepted = _ACCEPTED.get(RequiredSignIn(required))
    return accepted is None or any(proof in proofs for proof in accepted)


def check_required_sign_in(
    required: str, *, own_proofs: Collection[Proof] | None, has_providers: bool
) -> None:
    """
    Raise InvalidValue unless a team may require this sign-in.

    `own_proofs` are those of the administrator's session, None for keys and commands.
    """
    if required == RequiredSignIn.PROVIDER and not has_providers:
        raise InvalidValue(
            TranslatableMessage("This installation has no identity provider to sign in at.")
        )
    if own_proofs is not None and not is_met(required, own_proofs):
        raise InvalidValue(
            TranslatableMessage(
                "Sign in yourself in the way that the team is to require, then set it. Otherwise "
                "you would lock yourself out."
            )
        )
