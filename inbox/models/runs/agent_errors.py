"""Errors of agents, for their authors: stored in the demo and where a team allows it."""

from django.db import models

from inbox.models.fields import id_field
from inbox.models.runs.threads import Run


class AgentError(models.Model):
    """An exception that an agent or its tool raised in a run, with the author's own lines."""

    id = id_field()
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    text = models.TextField()
