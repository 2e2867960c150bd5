"""Users, teams, who belongs to them, and the keys of machines."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q

from inbox.domain.access import Permission, Role
from inbox.domain.teamwork import LONGEST_GRACE_SECONDS
from inbox.models.fields import choices, id_field


class User(AbstractUser):
    """A person. Ours from the start, because a user model cannot be swapped later."""

    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.get_username()


class Team(models.Model):
    """Whoever shares agents and what they ask; the unit of permission."""

    id = id_field()
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=80)
    grace_seconds = models.PositiveSmallIntegerField(
        default=0, help_text="how long a complete set of answers waits before it resumes its run"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(grace_seconds__lte=LONGEST_GRACE_SECONDS), name="grace_of_an_hour"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """What a user may do in a team."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=choices(Role))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "team"], name="one_membership_per_team")
        ]


class ApiKey(models.Model):
    """A machine's credential: only its sha256 is kept, the prefix tells keys apart for people."""

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField()
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    def permissions(self) -> frozenset[Permission]:
        return frozenset(Permission(str(scope)) for scope in self.scopes)
