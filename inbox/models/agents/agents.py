"""Agents and the endpoints of remote agents."""

from django.db import models

from inbox.models.fields import EncryptedTextField, choices, id_field
from inbox.models.people.teams import Team
from inbox.rules.agents.pauses import PauseReason


class Agent(models.Model):
    """An agent of the registry or a remote one; clients address it by its slug."""

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="agents")
    slug = models.SlugField(unique=True)
    implementation = models.CharField(max_length=80, help_text="name in agents.registry")
    description = models.CharField(max_length=200, blank=True)
    environment = models.CharField(
        max_length=40, blank=True, help_text="a fact for policies, e.g. production"
    )
    callback_prefixes = models.TextField(
        default="[]",
        db_default="[]",
        help_text="JSON text: the URLs below which programs may be called back",
    )
    paused_at = models.DateTimeField(null=True, help_text="since when it starts nothing new")
    pause_reason = models.CharField(
        max_length=10, choices=choices(PauseReason), blank=True, default="", db_default=""
    )
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.slug


class Endpoint(models.Model):
    """The URL and headers of a remote agent, and the result of its last connection test."""

    id = id_field()
    agent = models.OneToOneField(Agent, on_delete=models.PROTECT, related_name="endpoint")
    url = models.CharField(max_length=2_000)
    revision = models.PositiveIntegerField(default=1, help_text="incremented when the URL changes")
    headers = EncryptedTextField(help_text="encrypted JSON object of names and values")
    changed_at = models.DateTimeField()
    tested_at = models.DateTimeField(null=True, help_text="null after a change")
    test_report = models.TextField(
        null=True, help_text="JSON report of the last test (agents.adapters.remote.probe_report)"
    )
