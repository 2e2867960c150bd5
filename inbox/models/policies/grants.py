"""Grants: further calls of a tool that a person has allowed while approving one."""

import json

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from inbox.models.agents.agents import Agent
from inbox.models.fields import choices, id_field
from inbox.models.people.teams import Team
from inbox.models.policies.policies import PolicyVersion
from inbox.models.runs.interrupts import Interrupt
from inbox.models.runs.threads import Thread
from inbox.rules.policies.grants import GrantEnd, GrantState, terms_from_json


class Grant(models.Model):
    """
    A person's permission for further calls of a tool, within limits.

    Change `used`, `spent` and the end under the row's lock only (`lock_active_grants`).
    """

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="+", db_index=False)
    thread = models.ForeignKey(
        Thread,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="null: all threads of the agent",
    )
    tool = models.CharField(max_length=200)
    terms = models.TextField(help_text="canonical JSON text (inbox.rules.policies.grants)")
    most_uses = models.PositiveSmallIntegerField()
    used = models.PositiveSmallIntegerField(default=0)
    budget = models.DecimalField(max_digits=15, decimal_places=4, null=True)
    spent = models.DecimalField(max_digits=15, decimal_places=4, default=0)
    expires_at = models.DateTimeField()
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    maker_label = models.CharField(max_length=160)
    made_from = models.ForeignKey(
        Interrupt,
        on_delete=models.PROTECT,
        related_name="grants",
        help_text="the approved request",
    )
    version = models.ForeignKey(
        PolicyVersion,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="of the policy that asked; null without a policy",
    )
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    end_reason = models.CharField(max_length=12, blank=True, choices=choices(GrantEnd))

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(used__lte=F("most_uses")), name="grant_is_not_used_too_often"
            ),
            models.CheckConstraint(
                condition=Q(budget=None) | Q(spent__lte=F("budget")),
                name="grant_is_within_its_budget",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, end_reason="")
                | Q(ended_at__isnull=False) & ~Q(end_reason=""),
                name="ended_grant_has_a_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["agent"], condition=Q(ended_at=None), name="active_grants"),
        ]

    @property
    def state(self) -> GrantState:
        return GrantState(
            terms=terms_from_json(json.loads(self.terms)),
            expires_at=self.expires_at,
            used=self.used,
            spent=self.spent,
            has_ended=self.ended_at is not None,
        )
