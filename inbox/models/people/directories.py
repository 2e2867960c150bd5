"""Directories: identity providers that create, change and remove people and groups over SCIM."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from inbox.models.fields import choices, id_field
from inbox.models.people.teams import Team
from inbox.rules.directories.directory_people import MAX_TEXT_CHARACTERS
from inbox.rules.people.access import Role
from inbox.rules.people.person_names import MAX_NAME_CHARACTERS


class Directory(models.Model):
    """A directory of the installation; of its token the sha256 is stored."""

    id = id_field()
    name = models.CharField(max_length=80, unique=True)
    prefix = models.CharField(max_length=12, help_text="first characters of the token")
    digest = models.CharField(max_length=64, unique=True)
    networks = models.JSONField(
        default=list, help_text="CIDR ranges of the clients that may use the token; empty: all"
    )
    links_accounts = models.BooleanField(
        help_text="people with the same confirmed address are taken over by the directory"
    )
    created_by = models.CharField(max_length=160, help_text="as in the audit trail")
    created_at = models.DateTimeField()
    replaced_at = models.DateTimeField(null=True, help_text="when it got its present token")
    expires_at = models.DateTimeField(null=True, help_text="null: it does not expire")
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True, help_text="accurate to a minute")
    last_refused_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "directories"

    def __str__(self) -> str:
        return self.name


class DirectoryUser(models.Model):
    """A person of a directory, and their account; deleted when the directory removes them."""

    id = id_field()
    directory = models.ForeignKey(Directory, on_delete=models.PROTECT, related_name="people")
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="directory_user"
    )
    is_linked = models.BooleanField(help_text="the account was there before the directory")
    external_id = models.CharField(max_length=MAX_TEXT_CHARACTERS, blank=True)
    user_name = models.CharField(max_length=MAX_NAME_CHARACTERS)
    user_name_key = models.CharField(
        max_length=3 * MAX_NAME_CHARACTERS, unique=True, help_text="as names are compared"
    )
    is_active = models.BooleanField(help_text="as the directory said last")
    profile = models.JSONField(help_text="displayName, name and emails, as in SCIM")
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["directory", "external_id"], name="people_by_external_id")]


class DirectoryGroup(models.Model):
    """A group of a directory. A superuser chooses the team and the role that it gives."""

    id = id_field()
    directory = models.ForeignKey(Directory, on_delete=models.PROTECT, related_name="groups")
    display_name = models.CharField(max_length=MAX_TEXT_CHARACTERS)
    external_id = models.CharField(max_length=MAX_TEXT_CHARACTERS, blank=True)
    team = models.ForeignKey(
        Team,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="empty: the group gives nothing",
    )
    role = models.CharField(max_length=10, choices=choices(Role), blank=True)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(team=None, role="") | (Q(team__isnull=False) & ~Q(role="")),
                name="groups_give_team_and_role",
                violation_error_message=_("Choose a team and a role, or neither."),
            )
        ]

    def __str__(self) -> str:
        return self.display_name


class DirectoryGroupMember(models.Model):
    """A person in a group of the same directory."""

    group = models.ForeignKey(DirectoryGroup, on_delete=models.CASCADE, related_name="members")
    person = models.ForeignKey(DirectoryUser, on_delete=models.CASCADE, related_name="groups")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "person"], name="once_in_a_directory_group")
        ]
