"""Users, teams and memberships."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q

from inbox.models.fields import choices, id_field
from inbox.rules.decisions.collaboration import (
    DEFAULT_EXECUTION_HOURS,
    DEFAULT_EXPIRY_HOURS,
    MAX_EXPIRY_HOURS,
    MAX_GRACE_SECONDS,
)
from inbox.rules.people.access import Role


class User(AbstractUser):
    """A person. A model of our own, because a user model cannot be swapped later."""

    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.get_username()


class Team(models.Model):
    """A group of people who share agents and their interrupts; the unit of permission."""

    id = id_field()
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=80)
    grace_seconds = models.PositiveSmallIntegerField(
        default=0, help_text="how long a complete set of answers waits before it resumes its run"
    )
    execute_within_hours = models.PositiveIntegerField(
        default=DEFAULT_EXECUTION_HOURS,
        help_text="an approved call that has not started after so long lapses",
    )
    request_expiry_hours = models.PositiveIntegerField(
        default=DEFAULT_EXPIRY_HOURS,
        help_text="how long requests wait for which an agent says nothing of it; 0: for ever",
    )
    names_deciders = models.BooleanField(
        default=False, help_text="remote agents are told the names of who decided"
    )
    requires_view_digest = models.BooleanField(
        default=False, help_text="AG-UI clients have to send the digest of what they showed"
    )
    inbox_only = models.BooleanField(
        default=False, help_text="interrupts are answered on the pages of the inbox only"
    )
    headings = models.JSONField(
        default=dict,
        help_text="of requests: the name of a tool or a kind -> a text with arguments in braces",
    )
    audit_days = models.PositiveIntegerField(
        null=True, help_text="after so many days names and texts leave the audit trail; null: never"
    )
    audit_erased_to = models.BigIntegerField(
        default=0, help_text="the last audit entry that was old enough"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(grace_seconds__lte=MAX_GRACE_SECONDS), name="grace_of_an_hour"
            ),
            models.CheckConstraint(
                condition=Q(request_expiry_hours__lte=MAX_EXPIRY_HOURS),
                name="expiry_of_ten_years",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """The role of a user in a team."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=choices(Role))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "team"], name="one_membership_per_team")
        ]
