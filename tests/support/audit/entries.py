"""What tests about people share: an administrator, and what was written down."""

from typing import Any


def make_admin(world: Any, name: str = "ana") -> Any:
    """Somebody who administers the team of the world, as an actor."""
    from inbox.actions.people.provisioning import add_member
    from inbox.rules.people.access import SEED, Role

    user = add_member(
        team=world.team,
        username=name,
        full_name=name.capitalize(),
        password=f"{name}-password",
        role=Role.ADMIN,
        actor=SEED,
    )
    return world.actor(user)


def audited(prefix: str) -> list[tuple[str, dict[str, Any]]]:
    """The entries whose action begins like this, with their details, in order."""
    from inbox.models import AuditEntry

    entries = AuditEntry.objects.filter(action__startswith=prefix).order_by("pk")
    return [(entry.action, entry.content["detail"]) for entry in entries]
