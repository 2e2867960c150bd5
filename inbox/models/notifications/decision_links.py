"""Links of mails by which people decide requests without signing in."""

from django.conf import settings
from django.db import models

from inbox.models.fields import id_field
from inbox.models.runs.interrupts import Interrupt


class DecisionLink(models.Model):
    """
    A link by which one person may decide one request, as it was at this view digest.

    Only the sha256 of its token is stored. The lock of the request's thread is the lock of its use.
    """

    id = id_field()
    token_digest = models.CharField(max_length=64, unique=True, help_text="sha256 of the token")
    interrupt = models.ForeignKey(
        Interrupt, on_delete=models.PROTECT, related_name="links", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    view_digest = models.CharField(max_length=64)
    message_id = models.UUIDField(help_text="of the mail")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["message_id"], name="links_of_a_mail"),
            models.Index(fields=["expires_at"], name="links_by_end"),
        ]
