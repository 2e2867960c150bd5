"""Policies of teams: drafts, published versions, and the rulings that they gave."""

from django.conf import settings
from django.db import models

from inbox.models.fields import choices, id_field
from inbox.models.people.teams import Team
from inbox.models.runs.interrupts import Interrupt
from inbox.rules.decisions.consent import digest
from inbox.rules.policies.language.policy import Effect


class PolicyDraft(models.Model):
    """The unpublished policy of a team, which its administrators edit."""

    team = models.OneToOneField(
        Team, primary_key=True, on_delete=models.CASCADE, related_name="policy_draft"
    )
    body = models.TextField(help_text="canonical JSON text of the policy")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    author_label = models.CharField(max_length=160)
    changed_at = models.DateTimeField()

    @property
    def digest(self) -> str:
        return digest(self.body)


class PolicyVersion(models.Model):
    """A published policy of a team; append-only. `Team.policy_version` is the one in force."""

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="policy_versions")
    number = models.PositiveIntegerField(help_text="from 1, in the order of publishing")
    body = models.TextField(help_text="canonical JSON text of the policy")
    digest = models.CharField(max_length=64, help_text="SHA-256 of `body`")
    comment = models.CharField(max_length=500, blank=True)
    author_label = models.CharField(max_length=160, help_text="the last to change the draft")
    published_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    publisher_label = models.CharField(max_length=160)
    published_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "number"], name="one_policy_version_per_number")
        ]


class Ruling(models.Model):
    """The outcome of evaluating a policy for one interrupt; append-only. The last one applies."""

    id = id_field()
    interrupt = models.ForeignKey(Interrupt, on_delete=models.PROTECT, related_name="rulings")
    number = models.PositiveSmallIntegerField(help_text="from 1")
    version = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="rulings")
    effect = models.CharField(max_length=10, choices=choices(Effect))
    body = models.TextField(help_text="canonical JSON text (inbox.rules.policies.evaluation)")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["interrupt", "number"], name="one_ruling_per_number")
        ]
