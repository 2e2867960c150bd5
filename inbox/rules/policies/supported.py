"""Requirements that can be written in a policy and are not enforced yet."""

from inbox.rules.errors import InvalidValue
from inbox.rules.policies.language.policy import Policy, Requirement, Via
from inbox.rules.text.messages import TranslatableMessage

_WAYS = {Via.WEB, Via.REST, Via.AGUI, Via.LINK}


def check_supported(policy: Policy) -> None:
    """
    Raise if a rule requires what this version of Signoff cannot enforce.

    A policy that looks stricter than it is must not be published.

    Raises:
        InvalidValue: names the first such rule and requirement.
    """
    for rule in policy.rules:
        name = _unsupported(rule.require) if rule.require else None
        if name is not None:
            raise InvalidValue(
                TranslatableMessage(
                    "Rule {rule}: this version of Signoff does not enforce {name}.",
                    rule=rule.id,
                    name=name,
                )
            )


def _unsupported(requirement: Requirement) -> str | None:
    return None if _WAYS.issuperset(requirement.via or ()) else "via"
