"""Claims, assignees, snoozes, comments and read receipts of reviewers."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from inbox.models.fields import id_field
from inbox.models.runs.interrupts import Interrupt
from inbox.rules.decisions.teamwork.collaboration import MAX_COMMENT_CHARACTERS, Holder


class Claim(models.Model):
    """
    A reviewer's lease on an open interrupt; the row is deleted when the interrupt closes.

    An expired lease has no effect, and anyone may replace it.
    """

    interrupt = models.OneToOneField(
        Interrupt, primary_key=True, on_delete=models.PROTECT, related_name="claim"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    claimed_at = models.DateTimeField()
    until = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["user", "until"], name="claims_of_a_person")]

    @property
    def holder(self) -> Holder:
        return Holder(self.user_id, self.user.display_name, self.until)


class Assignee(models.Model):
    """
    The person whom an interrupt is assigned to; others may decide it, too.

    The row stays when the interrupt closes, and is deleted when the person can no longer decide.
    """

    interrupt = models.OneToOneField(
        Interrupt, primary_key=True, on_delete=models.PROTECT, related_name="assignee"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    assigned_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    assigned_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["user", "interrupt"], name="assigned_to_a_person")]


class Snooze(models.Model):
    """A person's wish not to see an open interrupt in their lists until a time."""

    interrupt = models.ForeignKey(
        Interrupt, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["interrupt", "user"], name="one_snooze_per_person")
        ]
        indexes = [models.Index(fields=["user", "until"], name="snoozes_of_a_person")]


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


class InterruptView(models.Model):
    """The first time a person opened an interrupt with this view digest."""

    interrupt = models.ForeignKey(
        Interrupt, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    view_digest = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["interrupt", "user", "view_digest"], name="one_view_per_reader"
            )
        ]


class Unmasking(models.Model):
    """The first time a person unmasked a set of values of this view digest."""

    interrupt = models.ForeignKey(
        Interrupt, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    view_digest = models.CharField(max_length=64)
    value_set = models.CharField(
        max_length=20, help_text="name in inbox.queries.decisions.masked_values"
    )
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["interrupt", "user", "view_digest", "value_set"],
                name="one_unmasking_per_view",
            )
        ]
