"""The versions of the installation's policy."""

from inbox.models import PolicyVersion
from inbox.queries.people.access import is_installation_admin
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.rules.text.messages import TranslatableMessage


def require_installation_admin(actor: Actor) -> None:
    """Raise Forbidden unless the actor administers the installation."""
    if not is_installation_admin(actor):
        raise errors.Forbidden(
            TranslatableMessage("Only superusers can read and publish the installation's policy.")
        )


def installation_versions(
    actor: Actor, *, limit: int | None = None, before: int = 0
) -> list[PolicyVersion]:
    """
    Return the versions of the installation's policy, the latest first, which is in force.

    `before` is the number of a version, 0 for none.

    Raises:
        Forbidden.
    """
    require_installation_admin(actor)
    rows = PolicyVersion.objects.filter(team=None).order_by("-number")
    return list((rows.filter(number__lt=before) if before else rows)[:limit])


def installation_version(actor: Actor, number: int) -> PolicyVersion:
    """
    Return one version of the installation's policy.

    Raises:
        NotFound, Forbidden.
    """
    require_installation_admin(actor)
    row = PolicyVersion.objects.filter(team=None, number=number).first()
    if row is None:
        raise errors.NotFound()
    return row
