"""Comments of reviewers."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from inbox.models.fields import id_field
from inbox.models.interrupts import Interrupt
from inbox.rules.decisions.collaboration import MAX_COMMENT_CHARACTERS


class Comment(models.Model):
    """A comment on an interrupt, never sent to agents. Append-only by triggers."""

    id = id_field()
    interrupt = models.ForeignKey(Interrupt, on_delete=models.PROTECT, related_name="comments")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    text = models.CharField(max_length=MAX_COMMENT_CHARACTERS)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(text=""), name="comment_says_something")]
        indexes = [models.Index(fields=["interrupt", "id"], name="comments_in_order")]
