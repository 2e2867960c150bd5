"""Saved views."""

from django.conf import settings
from django.db import models

from inbox.models.fields import id_field
from inbox.models.people.teams import Team


class SavedView(models.Model):
    """A named filter, for one person or for a team."""

    id = id_field()
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    team = models.ForeignKey(
        Team,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="the team that also sees it",
    )
    name = models.CharField(max_length=60)
    query = models.TextField(help_text="URL query string, validated at each use")
    created_at = models.DateTimeField()

    may_change: bool  #: set by the query: the actor may share and delete the view

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="one_view_per_name")]
