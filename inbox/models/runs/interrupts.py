"""Interrupts of runs."""

import json
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Optional

from django.apps import apps
from django.conf import settings
from django.db import models
from django.db.models import Q

from inbox.models.agents.agents import Agent
from inbox.models.fields import choices, id_field, known_states
from inbox.models.people.teams import Team
from inbox.models.runs.threads import Run, Thread
from inbox.models.runs.tool_calls import ToolCall
from inbox.models.statements import Select
from inbox.rules.decisions.approvals import is_proposal
from inbox.rules.decisions.bulk import BulkCandidate
from inbox.rules.decisions.consent import (
    RULED_VIEW_VERSIONS,
    VIEW_VERSION,
    current_view_digest,
    displayed_part,
    view_digest,
)
from inbox.rules.presentations.vocabulary import Author
from inbox.rules.runs.states import InterruptStatus

if TYPE_CHECKING:
    from inbox.models.policies.grants import Grant
    from inbox.models.policies.policies import Ruling

#: `due_at` of interrupts without an expiry: a column without nulls uses its index on every vendor.
NEVER = datetime(9999, 12, 31, tzinfo=UTC)
_OPEN = Q(status=InterruptStatus.OPEN)


def _first_page(name: str, fields: list[str], condition: Q) -> models.Index:
    """Return the index that serves one list in its order."""
    return models.Index(fields=fields, condition=condition, name=name)


_LAST_RULING: Select["Ruling"] = Select(
    lambda params: (
        apps.get_model("inbox", "Ruling")
        .objects.filter(interrupt=params.interrupt)
        .select_related("version", "installation_version")
        .defer("version__body", "installation_version__body")
        .order_by("-number")[:1]
    )
)


class Interrupt(models.Model):
    """
    An interrupt of a run; only its state changes after creation.

    `body` is the AG-UI Interrupt as JSON text; the other columns serve lists and checks. `team`,
    `agent` and `tool` are copied from the thread and the call, so that an index serves the first
    page of a list with any of these filters.
    """

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="+", db_index=False)
    thread = models.ForeignKey(
        Thread, on_delete=models.PROTECT, related_name="interrupts", db_index=False
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="interrupts")
    tool_call = models.ForeignKey(
        ToolCall, null=True, on_delete=models.PROTECT, related_name="interrupts"
    )
    interrupt_id = models.CharField(max_length=200)
    position = models.IntegerField(help_text="position in the outcome, from 0")
    reason = models.CharField(max_length=100)
    tool = models.CharField(max_length=200, blank=True, help_text="name of the call's tool")
    similarity_key = models.CharField(max_length=64, blank=True, help_text="equal if similar")
    search_text = models.TextField(help_text="searched text, casefolded")
    title = models.CharField(max_length=300, help_text="derived from the call, or set by the team")
    message = models.CharField(
        max_length=300, blank=True, default="", help_text="the agent's message, for lists"
    )
    args = models.TextField(null=True, help_text="of the call at creation")
    body = models.TextField()
    view_digest = models.CharField(max_length=64, help_text="digest of the interrupt as created")
    view_version = models.PositiveSmallIntegerField(
        default=VIEW_VERSION, help_text="version of the formula of view_digest"
    )
    endpoint_digest = models.CharField(
        max_length=64,
        blank=True,
        help_text="of the remote endpoint; blank for local agents",
    )
    files = models.TextField(
        null=True, help_text="JSON text of the attached files' references; null: none"
    )
    repeats = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.PROTECT,
        related_name="repeated_by",
        help_text="an earlier interrupt whose answer could not be used",
    )
    status = models.CharField(
        max_length=10, choices=choices(InterruptStatus), default=InterruptStatus.OPEN
    )
    expires_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(help_text="expires_at, or NEVER; orders the pending list")
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="author of the decision; not meaningful while open",
    )

    restored_at = models.DateTimeField(
        null=True,
        help_text="when it came back with a backup, until somebody has checked what happened since",
    )
    people_needed = models.PositiveSmallIntegerField(
        default=1, help_text="slots of the policy, for lists; the gate computes them again"
    )
    severity = models.CharField(
        max_length=8,
        blank=True,
        default="",
        db_default="",
        help_text="of the risk, as the agent says; blank if it does not, for lists",
    )
    is_reversible = models.BooleanField(null=True, help_text="as the agent says, for lists")
    endorsed_payload = models.TextField(
        null=True, help_text="JSON text of what has been endorsed, unless it is a plain approval"
    )

    #: The grant that approves the new interrupt, and the number of this use of it.
    grant_use: tuple["Grant", int] | None = None
    may_decide: bool  #: set by the query of a bulk review: the actor's permission

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["thread", "interrupt_id"], name="one_interrupt_per_id"),
            known_states("status", InterruptStatus, "interrupt_status_is_known"),
            models.CheckConstraint(
                condition=_OPEN & Q(closed_at=None) | ~_OPEN & Q(closed_at__isnull=False),
                name="closed_interrupt_has_its_time",
            ),
        ]
        indexes = [
            _first_page("pending_by_expiry", ["team", "due_at", "id"], _OPEN),
            _first_page("pending_by_time", ["team", "status", "id"], _OPEN),
            _first_page("pending_of_agent", ["team", "agent", "due_at", "id"], _OPEN),
            _first_page("pending_of_tool", ["team", "tool", "due_at", "id"], _OPEN),
            _first_page("pending_of_reason", ["team", "reason", "due_at", "id"], _OPEN),
            _first_page("pending_by_similarity", ["team", "similarity_key", "due_at", "id"], _OPEN),
            _first_page("open_by_expiry", ["expires_at"], _OPEN),
            _first_page("decided_by_time", ["team", "closed_at", "id"], ~_OPEN),
            _first_page("decided_by_status", ["team", "status", "closed_at", "id"], ~_OPEN),
            _first_page("decided_of_agent", ["team", "agent", "closed_at", "id"], ~_OPEN),
            _first_page("decided_of_tool", ["team", "tool", "closed_at", "id"], ~_OPEN),
            _first_page("decided_of_reason", ["team", "reason", "closed_at", "id"], ~_OPEN),
            _first_page("decided_by_person", ["team", "decided_by", "closed_at", "id"], ~_OPEN),
            models.Index(fields=["team", "id"], name="asked_of_a_team"),
        ]

    def bulk_candidate(self) -> BulkCandidate:
        call = self.tool_call
        return BulkCandidate(
            reason=self.reason,
            tool=self.tool if call else "",
            args=self.args,
            approved_args=call.approved_args if call else None,
            body=self.body,
            key=f"{self.pk} {self.view_digest}",
            people_needed=self.people_needed,
            is_restored=self.restored_at is not None,
        )

    @cached_property
    def is_proposal(self) -> bool:
        """True if each answer but a denial consents to something."""
        return is_proposal(
            reason=self.reason,
            has_call=self.tool_call_id is not None,
            schema=self.schema,
        )

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON Schema of the answer."""
        schema: dict[str, Any] | None = json.loads(self.body).get("responseSchema")
        return schema

    @property
    def author(self) -> Author:
        """The author of the words beside the values."""
        if self.endpoint_digest:
            return Author.AGENT
        return Author.PROGRAM if self.run.pulled else Author.OPERATOR

    @property
    def current_args(self) -> str | None:
        """JSON text of the arguments that an approval allows now, None without a tool call."""
        endorsed = json.loads(self.endorsed_payload) if self.endorsed_payload else None
        if isinstance(endorsed, dict) and "editedArgs" in endorsed and self.tool_call:
            return json.dumps(endorsed["editedArgs"], ensure_ascii=False)
        return self.tool_call.approved_args if self.tool_call else None

    @cached_property
    def ruling(self) -> Optional["Ruling"]:
        """The ruling of the policies, None if there was no policy."""
        if self.view_version not in RULED_VIEW_VERSIONS:
            return None
        return _LAST_RULING.first(interrupt=self.pk)

    def digest_at_creation(self) -> str:
        """Return the view digest of the columns; another one than stored if they were changed."""
        return view_digest(
            version=self.view_version,
            interrupt=displayed_part(json.loads(self.body), self.view_version),
            tool=(self.tool or None) if self.tool_call_id else None,
            args=self.args,
            ruling=self.ruling.body if self.ruling else None,
            files=self.files,
        )

    @property
    def shown_digest(self) -> str:
        """
        Return the current view digest, which a decision has to send.

        It changes if another interrupt about the same call was answered with edited arguments, if
        somebody endorsed changes, or if the agent has moved: a page that was opened before does not
        display that.
        """
        call = self.tool_call
        is_changed = call is not None and call.approved_args != self.args
        return current_view_digest(
            self.view_digest,
            changed_args=call.approved_args if call is not None and is_changed else None,
            endpoint=self.endpoint_digest,
            endorsed=self.endorsed_payload,
        )
