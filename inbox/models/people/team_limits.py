"""The limits that a team has of its own, and the use that is too much to count each time."""

from django.db import models

from inbox.models.fields import id_field
from inbox.models.people.teams import Team


class TeamLimits(models.Model):
    """Limits of a team instead of the installation's (inbox.rules.limits); null: the default."""

    id = id_field()
    team = models.OneToOneField(Team, on_delete=models.CASCADE, related_name="+")
    running_runs = models.PositiveBigIntegerField(null=True)
    queued_runs = models.PositiveBigIntegerField(null=True)
    open_requests = models.PositiveBigIntegerField(null=True)
    agent_open_requests = models.PositiveBigIntegerField(null=True)
    agent_requests_per_minute = models.PositiveBigIntegerField(null=True)
    threads = models.PositiveBigIntegerField(null=True)
    streams = models.PositiveBigIntegerField(null=True)
    sockets = models.PositiveBigIntegerField(null=True)
    event_bytes = models.PositiveBigIntegerField(null=True)
    file_bytes = models.PositiveBigIntegerField(null=True)


class TeamUse(models.Model):
    """The threads and events of a team, as the sweeper counted them."""

    id = id_field()
    team = models.OneToOneField(Team, on_delete=models.CASCADE, related_name="+")
    threads = models.PositiveBigIntegerField(help_text="with ids below `threads_to`")
    threads_to = models.UUIDField(help_text="id that no thread had when they were counted")
    event_bytes = models.PositiveBigIntegerField()
    counted_at = models.DateTimeField()
