"""Threads, their runs and their event logs."""

import json

from django.conf import settings
from django.db import models
from django.db.models import Q

from inbox.models.agents.agents import Agent
from inbox.models.fields import choices, id_field, known_states
from inbox.models.people.api_keys import ApiKey
from inbox.models.people.teams import Team
from inbox.rules.people.access import Actor
from inbox.rules.runs.retriers import retriers_from_text
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES, RunStatus


class Thread(models.Model):
    """
    A conversation with one agent; every write to it locks its row first.

    `messages`, `state` and `client_messages` are those after the last ended run, as JSON text.
    """

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="+", db_index=False)
    external_id = models.CharField(max_length=200, help_text="AG-UI threadId")
    title = models.CharField(max_length=200, blank=True)
    next_seq = models.BigIntegerField(default=1)
    messages = models.TextField(default="[]")
    state = models.TextField(default="null")
    client_messages = models.TextField(
        db_default="{}",
        help_text="JSON text: message id -> fingerprint, for messages that clients sent",
    )
    event_bytes = models.BigIntegerField(
        default=0, db_default=0, help_text="characters of its events, since they are counted"
    )
    is_kept = models.BooleanField(
        default=False, db_default=False, help_text="it is not deleted by its age"
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "external_id"], name="one_thread_per_address")
        ]
        indexes = [
            models.Index(fields=["team", "-updated_at"], name="threads_of_a_team"),
            models.Index(fields=["team", "id"], name="threads_by_time"),
            models.Index(fields=["agent", "id"], name="threads_of_agent"),
        ]


class Memory(models.Model):
    """The state of a thread's agent between runs, as JSON text that only the agent reads."""

    id = id_field()
    thread = models.OneToOneField(Thread, on_delete=models.PROTECT, related_name="memory")
    body = models.TextField()


class Run(models.Model):
    """
    A run of the agent, from queued to a terminal state; queued rows are the work queue.

    `input` is the RunAgentInput without ids and resume, `resume` the entries that the server built
    from stored decisions, `checkpoint` the agent's state for the run that resumes this one; all
    three JSON text. A run that `retries` a failed one repeats its work. `team` and `agent` are
    copied from the thread, so that one index serves each list.
    """

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="+", db_index=False)
    thread = models.ForeignKey(
        Thread, on_delete=models.PROTECT, related_name="runs", db_index=False
    )
    external_id = models.CharField(max_length=200, help_text="AG-UI runId; not unique")
    parent_external_id = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=12, choices=choices(RunStatus), default=RunStatus.QUEUED)
    resumes = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="resumed_by"
    )
    retries = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="retried_by"
    )
    resume_at = models.DateTimeField(
        null=True, help_text="end of the grace period of an interrupted run"
    )
    input = models.TextField()
    resume = models.TextField(default="[]")
    checkpoint = models.TextField(default="null")
    first_seq = models.BigIntegerField(help_text="lower bound of the seq of its events")
    fence = models.IntegerField(default=0, help_text="incremented by each claim of a worker")
    attempt = models.IntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=40, blank=True)
    started_by = models.CharField(max_length=160)
    pulled = models.BooleanField(
        default=False,
        db_default=False,
        help_text="of an external agent, which executes it itself; no worker claims it",
    )
    requester_user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="copied to resumes and retries",
    )
    requester_key = models.ForeignKey(
        ApiKey, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    requester_people = models.TextField(
        null=True,
        help_text="JSON: ids of the people behind the requester when it asked; copied like it",
    )
    retriers = models.TextField(
        null=True,
        help_text="JSON of inbox.rules.runs.retriers.Retriers; copied like the requester",
    )
    trace_context = models.CharField(
        max_length=55,
        blank=True,
        default="",
        db_default="",
        help_text="of the span that queued it (W3C traceparent); blank without traces",
    )
    queued_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["thread"],
                condition=Q(status__in=ACTIVE_RUN_STATUSES),
                name="one_active_run_per_thread",
            ),
            known_states("status", RunStatus, "run_status_is_known"),
            models.CheckConstraint(
                condition=Q(status__in=ACTIVE_RUN_STATUSES, finished_at=None)
                | ~Q(status__in=ACTIVE_RUN_STATUSES) & Q(finished_at__isnull=False),
                name="finished_run_has_its_time",
            ),
            models.CheckConstraint(
                condition=Q(status=RunStatus.RUNNING, lease_until__isnull=False, fence__gt=0)
                | ~Q(status=RunStatus.RUNNING) & Q(lease_until=None),
                name="running_run_has_a_lease",
            ),
            models.CheckConstraint(
                condition=Q(resume_at=None) | Q(status=RunStatus.INTERRUPTED),
                name="resume_time_of_interrupted_run",
            ),
        ]
        indexes = [
            models.Index(fields=["team", "id"], name="runs_of_a_team"),
            models.Index(fields=["team", "status", "id"], name="runs_by_status"),
            models.Index(fields=["agent", "id"], name="runs_of_agent"),
            models.Index(fields=["thread", "id"], name="runs_of_thread"),
            models.Index(
                fields=["queued_at"],
                condition=Q(status=RunStatus.QUEUED, pulled=False),
                name="queued_runs",
            ),
            models.Index(
                fields=["lease_until"],
                condition=Q(status=RunStatus.RUNNING, pulled=False),
                name="running_runs",
            ),
            models.Index(
                fields=["resume_at"],
                condition=Q(resume_at__isnull=False),
                name="resumes_by_time",
            ),
        ]

    def is_requested_by(self, actor: Actor) -> bool:
        """Return True if this person or key requested the run; False without a requester."""
        requester = (self.requester_user_id, self.requester_key_id)
        return any(requester) and requester == (actor.user_id, actor.key_id)

    def is_self_approved_by(self, actor: Actor) -> bool:
        """
        Return True if an approval by the actor is one by who requested or retried the run.

        A key counts as the people who can act with it, in each role.
        """
        is_own_key = actor.key_id is not None and (
            actor.key_id == self.requester_key_id
            or str(actor.key_id) in retriers_from_text(self.retriers).keys
        )
        return is_own_key or bool(actor.person_ids & self.requester_person_ids)

    @property
    def requester_person_ids(self) -> frozenset[int]:
        """
        The people who requested or retried the run.

        Of a key, those who could act with it when it asked, and those who can now.
        """
        key = self.requester_key
        return self._stored_person_ids | (key.person_ids() if key else frozenset())

    def retriers_with(self, actor: Actor) -> str | None:
        """Return `retriers` with the actor, unless it is the requester with the same people."""
        if self.is_requested_by(actor) and actor.person_ids <= self._stored_person_ids:
            return self.retriers
        retriers = retriers_from_text(self.retriers)
        return retriers.and_also(people=actor.person_ids, key_id=actor.key_id).to_text()

    @property
    def _stored_person_ids(self) -> frozenset[int]:
        people = frozenset(json.loads(self.requester_people or "[]"))
        if self.requester_user_id is not None:
            people |= {self.requester_user_id}
        return people | retriers_from_text(self.retriers).people


class Event(models.Model):
    """One AG-UI event in its wire format. Append-only by triggers."""

    thread = models.ForeignKey(
        Thread, on_delete=models.PROTECT, related_name="events", db_index=False
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="events", db_index=False)
    seq = models.BigIntegerField()
    type = models.CharField(max_length=40)
    body = models.TextField(help_text="JSON text that every client receives")
    from_agent = models.BooleanField(help_text="false for events of the engine")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["thread", "seq"], name="one_event_per_seq")]
        indexes = [models.Index(fields=["run", "seq"], name="events_of_a_run")]


class DeliveredOutcome(models.Model):
    """The last interrupts of a thread that a client of an older dialect received."""

    id = id_field()
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="+", db_index=False)
    actor = models.CharField(max_length=80, help_text="inbox.rules.people.access.actor_key")
    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="+", help_text="the interrupted run"
    )
    interrupt_ids = models.JSONField(help_text="AG-UI ids of the delivered interrupts")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["thread", "actor"], name="one_delivered_outcome_per_actor"
            )
        ]
