"""Accounts of chats that people have connected to their accounts here."""

from django.conf import settings
from django.db import models

from inbox.models.fields import id_field
from inbox.models.people.teams import Team


class ChatIdentity(models.Model):
    """
    An account in a chat whose owner decides as `user`, connected by that user.

    It counts in one team only: whoever enters the signing secret of an app can sign for any account
    of any workspace.
    """

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="chat_identities"
    )
    workspace = models.CharField(max_length=40, help_text="as T012AB3CD")
    external_id = models.CharField(max_length=40, help_text="in the workspace, as U012AB3CD")
    name = models.CharField(max_length=80, blank=True, help_text="in the chat, as it was then")
    method = models.CharField(max_length=10, help_text="by which it was connected")
    linked_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "workspace", "external_id"], name="one_user_per_chat_account"
            )
        ]


class ChatLinkCode(models.Model):
    """
    A one-time code that connects an account in a chat; the chat shows it to that account only.

    The code itself is not stored. An account has one code for a team at a time; using it deletes
    the row.
    """

    id = models.BigAutoField(primary_key=True)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the code")
    workspace = models.CharField(max_length=40)
    external_id = models.CharField(max_length=40)
    name = models.CharField(max_length=80, blank=True)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "workspace", "external_id"], name="one_code_per_chat_account"
            )
        ]
