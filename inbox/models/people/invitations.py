"""Invitations to a team."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from inbox.models.fields import EncryptedTextField, choices, id_field
from inbox.models.people.teams import Team
from inbox.rules.people.access import Role
from inbox.rules.people.invitations import MAX_EMAIL_CHARACTERS, MailState


class Invitation(models.Model):
    """
    An invitation to a team; of the link's token the sha256 is stored.

    A new link replaces the old one in the same row. Until its mail is sent, the row is the message:
    it has the link, encrypted.
    """

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")
    email = models.CharField(max_length=MAX_EMAIL_CHARACTERS, help_text="in lower case")
    role = models.CharField(max_length=10, choices=choices(Role))
    digest = models.CharField(max_length=64, unique=True)
    mail = models.CharField(
        max_length=10,
        choices=choices(MailState),
        help_text="none: the link was displayed, so it does not prove the address",
    )
    link = EncryptedTextField(blank=True, help_text="encrypted; blank when the mail is settled")
    language = models.CharField(max_length=10, blank=True, help_text="of the mail")
    tries = models.PositiveSmallIntegerField(default=0, help_text="of sending the mail")
    next_try_at = models.DateTimeField(null=True, help_text="null when the mail is settled")
    invited_by = models.CharField(max_length=160, help_text="name of the actor in the audit trail")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="the invitation ends when this person leaves; null: a command, or not known",
    )
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(help_text="time of the current link")
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "email"],
                condition=Q(accepted_at=None, withdrawn_at=None),
                name="one_open_invitation_per_address",
            )
        ]
        indexes = [
            models.Index(
                fields=["next_try_at"],
                condition=Q(next_try_at__isnull=False),
                name="invitations_to_send",
            )
        ]
