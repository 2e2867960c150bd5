"""Users, teams and memberships."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q

from inbox.models.fields import choices, id_field
from inbox.rules.decisions.teamwork.collaboration import (
    DEFAULT_EXECUTION_HOURS,
    DEFAULT_EXPIRY_HOURS,
    DEFAULT_GRACE_SECONDS,
    MAX_EXPIRY_HOURS,
    MAX_GRACE_SECONDS,
)
from inbox.rules.people.access import Role
from inbox.rules.people.reject_reasons import default_reject_reasons
from inbox.rules.people.required_sign_in import RequiredSignIn


class User(AbstractUser):
    """A person. A model of our own, because a user model cannot be swapped later."""

    hides_first_steps = models.BooleanField(
        db_default=False, help_text="the first steps of a new team are not shown"
    )

    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.get_username()


class Team(models.Model):
    """A group of people who share agents and their interrupts; the unit of permission."""

    id = id_field()
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=80)
    grace_seconds = models.PositiveSmallIntegerField(
        default=DEFAULT_GRACE_SECONDS,
        help_text="delay between the last answer and the resume of the run",
    )
    execute_within_hours = models.PositiveIntegerField(
        default=DEFAULT_EXECUTION_HOURS,
        help_text="approved calls that have not started by then lapse",
    )
    request_expiry_hours = models.PositiveIntegerField(
        default=DEFAULT_EXPIRY_HOURS,
        help_text="for interrupts without an expiry of their own; 0: they do not expire",
    )
    names_deciders = models.BooleanField(
        default=False, help_text="remote agents receive the names of the deciders"
    )
    requires_view_digest = models.BooleanField(
        default=False, help_text="AG-UI clients must send the digest of the displayed view"
    )
    inbox_only = models.BooleanField(
        default=False, help_text="only pages of the inbox may answer interrupts"
    )
    headings = models.JSONField(
        default=dict,
        help_text="tool name or kind -> heading of the request, with arguments in braces",
    )
    reject_reasons = models.JSONField(
        default=default_reject_reasons,
        db_default=models.Value(default_reject_reasons(), models.JSONField()),
        help_text="short texts that a note of a rejection can start with",
    )
    policy_version = models.ForeignKey(
        "PolicyVersion",
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="the policy in force; null: people decide everything",
    )
    installation_version = models.ForeignKey(
        "PolicyVersion",
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="the installation's policy in force, the same for all teams",
    )
    self_approval = models.BooleanField(
        null=True,
        default=None,
        help_text="requesters may approve their own tool calls; null: until two people can decide",
    )
    two_administrators = models.BooleanField(
        default=False, help_text="the author of a draft of the policy cannot publish it"
    )
    messages_show_arguments = models.BooleanField(
        default=False, help_text="notifications about one request have its arguments, masked"
    )
    stores_exceptions = models.BooleanField(
        default=False,
        db_default=False,
        help_text="what agents raise is stored with their runs, for those who may start runs",
    )
    override_group = models.CharField(
        max_length=64,
        blank=True,
        help_text="name of the group that may approve despite the policy; blank: nobody",
    )
    audit_days = models.PositiveIntegerField(
        null=True, help_text="days until names and texts in the audit trail are erased; null: never"
    )
    file_days = models.PositiveIntegerField(
        null=True, help_text="days until files are erased; null: never"
    )
    thread_days = models.PositiveIntegerField(
        null=True,
        help_text="days without activity until a thread is deleted; 0: never; "
        "null: as the installation",
    )
    session_idle_minutes = models.PositiveIntegerField(
        null=True, help_text="of the members' sessions without use; null: as the installation"
    )
    session_hours = models.PositiveIntegerField(
        null=True, help_text="of the members' sessions in total; null: as the installation"
    )
    required_sign_in = models.CharField(
        max_length=13,
        choices=choices(RequiredSignIn),
        default=RequiredSignIn.ANY,
        db_default=RequiredSignIn.ANY.value,
        help_text="how members must have signed in to enter the team",
    )
    audit_erased_to = models.BigIntegerField(
        default=0, help_text="id of the last audit entry that was old enough"
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
