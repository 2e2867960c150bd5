"""The agents a team has."""

from django.db import models

from inbox.models.fields import id_field
from inbox.models.people import Team


class Agent(models.Model):
    """An agent of the registry, under the address that clients call it by."""

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="agents")
    slug = models.SlugField(unique=True)
    implementation = models.CharField(max_length=80, help_text="its name in agents.registry")
    description = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()
