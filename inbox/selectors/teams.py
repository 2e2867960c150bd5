"""Teams by name."""

from inbox.models import Team


def team_by_slug(slug: str) -> Team | None:
    return Team.objects.filter(slug=slug).first()
