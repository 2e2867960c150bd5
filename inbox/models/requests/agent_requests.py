"""Requests of programs that run by themselves, and the sessions that group them."""

from django.db import models

from inbox.models.agents.agents import Agent
from inbox.models.fields import EncryptedTextField, choices, id_field, known_states
from inbox.models.people.teams import Team
from inbox.models.runs.threads import Thread
from inbox.rules.requests.request_states import RequestStatus


class AgentSession(models.Model):
    """A session of an external agent, such as one terminal or one nightly job."""

    id = id_field()
    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, related_name="sessions", db_index=False
    )
    external_id = models.CharField(max_length=200, help_text="as the program names it")
    title = models.CharField(max_length=200, blank=True)
    last_at = models.DateTimeField(help_text="of the latest request")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "external_id"], name="one_session_per_id")
        ]


class AgentRequest(models.Model):
    """
    A set of questions that a program asked at once, on a thread of its own.

    `requester` is what the program says of itself, and `execution` how each approved call is
    executed, by the item's id; both JSON text. `team` and `agent` are copied from the thread, so
    that one index serves each list.
    """

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="+", db_index=False)
    thread = models.OneToOneField(Thread, on_delete=models.PROTECT, related_name="request")
    session = models.ForeignKey(
        AgentSession, null=True, on_delete=models.PROTECT, related_name="requests", db_index=False
    )
    status = models.CharField(
        max_length=10, choices=choices(RequestStatus), default=RequestStatus.OPEN
    )
    requester = models.TextField(null=True, help_text="JSON text: name and url, not verified")
    execution = models.TextField(help_text="JSON text: item id -> how its call is executed")
    callback = EncryptedTextField(blank=True, help_text="encrypted URL; blank for none")
    attach_digest = models.CharField(
        max_length=64, blank=True, help_text="of session, tool and arguments; blank if not to join"
    )
    withdrawn_at = models.DateTimeField(null=True)
    withdrawal_reason = models.CharField(max_length=500, blank=True)
    heard_at = models.DateTimeField(help_text="when the program last asked about it")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [known_states("status", RequestStatus, "request_status_is_known")]
        indexes = [
            models.Index(fields=["team", "id"], name="requests_of_team"),
            models.Index(fields=["agent", "status", "id"], name="requests_by_status"),
            models.Index(fields=["agent", "created_at"], name="requests_by_time"),
            models.Index(fields=["session", "id"], name="requests_of_session"),
            models.Index(
                fields=["session", "attach_digest", "id"],
                condition=~models.Q(attach_digest=""),
                name="requests_to_join",
            ),
        ]
