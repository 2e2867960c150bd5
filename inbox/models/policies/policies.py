"""Policies of teams: drafts, published versions, and the rulings that they gave."""

from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Q

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
    author_people = models.JSONField(
        db_default=models.Value([], models.JSONField()),
        default=list,
        help_text="sorted ids of those who could act as the author: the people behind a key",
    )
    changed_at = models.DateTimeField()

    @property
    def digest(self) -> str:
        return digest(self.body)

    def is_by(self, person_id: int | None) -> bool:
        """Return whether a person changed the draft last, or had the key that did."""
        return person_id is not None and person_id in (self.author_id, *self.author_people)


class PolicyVersion(models.Model):
    """
    A published policy of a team, or of the installation; append-only.

    `Team.policy_version` and `Team.installation_version` are the ones in force.
    """

    id = id_field()
    team = models.ForeignKey(
        Team,
        null=True,
        on_delete=models.PROTECT,
        related_name="policy_versions",
        help_text="null: the installation",
    )
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
            models.UniqueConstraint(
                fields=["team", "number"], name="one_policy_version_per_number"
            ),
            models.UniqueConstraint(
                fields=["number"],
                condition=Q(team=None),
                name="one_installation_policy_per_number",
            ),
        ]


class Ruling(models.Model):
    """The outcome of evaluating a policy for one interrupt; append-only. The last one applies."""

    id = id_field()
    interrupt = models.ForeignKey(Interrupt, on_delete=models.PROTECT, related_name="rulings")
    number = models.PositiveSmallIntegerField(help_text="from 1")
    version = models.ForeignKey(
        PolicyVersion,
        null=True,
        on_delete=models.PROTECT,
        related_name="rulings",
        help_text="of the team; null: the team had no policy",
    )
    installation_version = models.ForeignKey(
        PolicyVersion,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="of the installation; null: it had no policy",
    )
    effect = models.CharField(max_length=10, choices=choices(Effect))
    body = models.TextField(help_text="canonical JSON text (inbox.rules.policies.evaluation)")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["interrupt", "number"], name="one_ruling_per_number"),
            models.CheckConstraint(
                condition=Q(version__isnull=False) | Q(installation_version__isnull=False),
                name="ruling_has_a_version",
            ),
        ]

    @property
    def version_ids(self) -> list[UUID]:
        """The versions that ruled: of the installation, and of the team."""
        ids = (self.installation_version_id, self.version_id)
        return [version_id for version_id in ids if version_id is not None]
