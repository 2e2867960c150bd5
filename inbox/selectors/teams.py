"""Teams by name."""

from inbox.models import Team, User


def team_by_slug(slug: str) -> Team | None:
    return Team.objects.filter(slug=slug).first()


def has_users() -> bool:
    """Whether anybody could sign in."""
    return User.objects.exists()
