"""The people of the demo."""

from collections.abc import Sequence

from inbox.models import Membership


def demo_people(usernames: Sequence[str]) -> Sequence[Membership]:
    """Return the memberships of these users, in this order: no superusers, nobody inactive."""
    rows = Membership.objects.filter(
        user__username__in=usernames, user__is_active=True, user__is_superuser=False
    ).select_related("user")
    by_name = {row.user.username: row for row in rows.order_by("-pk")}
    return [by_name[name] for name in usernames if name in by_name]
