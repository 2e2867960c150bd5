"""Who did what, and when; and the log that all of it is sealed in."""

import json
from typing import Any

from django.db import models

from inbox.models.interrupts import Interrupt
from inbox.models.people import Team
from inbox.models.threads import Run, Thread
from inbox.models.toolcalls import ToolCall


def _about(
    model: type[models.Model], *, db_index: bool, related_name: str = "+"
) -> "models.ForeignKey[Any, Any]":
    return models.ForeignKey(
        model,
        null=True,
        on_delete=models.PROTECT,
        related_name=related_name,
        db_index=db_index,
    )


class AuditEntry(models.Model):
    """
    One thing that somebody did, in the transaction that did it. Append-only, by triggers.

    `body` is what counts: canonical JSON text with the hash of the entry before it in its chain,
    which is that of a thread, of a team, or SYSTEM_CHAIN (inbox.rules.audit.audit_entry). `hash` is
    its sha256. The other columns repeat what it says, to be searched.
    """

    chain = models.UUIDField()
    seq = models.BigIntegerField(help_text="its place in the chain, from 1")
    body = models.TextField()
    hash = models.CharField(max_length=64)
    team = _about(Team, db_index=False)
    thread = _about(Thread, db_index=False, related_name="audit")
    run = _about(Run, db_index=True)
    interrupt = _about(Interrupt, db_index=True, related_name="audit")
    tool_call = _about(ToolCall, db_index=True)
    action = models.CharField(max_length=40)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=64)
    at = models.DateTimeField()
    erases_from = models.BigIntegerField(null=True)
    erases_to = models.BigIntegerField(null=True)

    class Meta:
        verbose_name_plural = "audit entries"
        constraints = [
            models.UniqueConstraint(fields=["chain", "seq"], name="one_entry_per_place"),
        ]
        indexes = [
            models.Index(fields=["team", "-id"], name="audit_of_a_team"),
            models.Index(fields=["team", "action", "-id"], name="audit_by_action"),
            models.Index(fields=["team", "actor_kind", "actor_id", "-id"], name="audit_by_actor"),
            models.Index(
                fields=["chain", "erases_from"],
                condition=models.Q(erases_from__isnull=False),
                name="audit_erasures",
            ),
        ]

    @property
    def told(self) -> dict[str, Any]:
        """The `actor`'s name, `digests` and the `detail` of what was done, empty once erased."""
        payload: AuditPayload | None = getattr(self, "payload", None)
        nothing: dict[str, Any] = {"actor": "", "on_behalf": "", "digests": {}, "detail": {}}
        kept = _read(payload.text) if payload else {}
        return {
            name: kept[name] if isinstance(kept.get(name), type(none)) else none
            for name, none in nothing.items()
        }


def _read(text: str) -> dict[str, Any]:
    """A payload; nothing where somebody has put another text in its place."""
    try:
        kept = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return kept if isinstance(kept, dict) else {}


class AuditPayload(models.Model):
    """
    The names and texts of an entry, as far as nobody has erased them.

    The entry keeps the sha256 of the salt and the text. A trigger lets a row go only when an entry
    further down the chain says that it is gone.
    """

    entry = models.OneToOneField(
        AuditEntry, on_delete=models.PROTECT, related_name="payload", primary_key=True
    )
    salt = models.CharField(max_length=64, help_text="32 random bytes in hex")
    text = models.TextField(help_text="canonical JSON text")


class AuditLeaf(models.Model):
    """The place of an entry in the log, from 0 without gaps. Append-only, by triggers."""

    position = models.BigIntegerField(primary_key=True)
    entry = models.OneToOneField(AuditEntry, on_delete=models.PROTECT, related_name="leaf")


class AuditBlock(models.Model):
    """The root over 256 leaves, so that proofs need not read them all. Can be made anew."""

    number = models.BigIntegerField(primary_key=True, help_text="of the block, from 0")
    root = models.CharField(max_length=64)


class AuditCheckpoint(models.Model):
    """A signed checkpoint of the log (rules.audit.signed_checkpoint); append-only by trigger."""

    size = models.BigIntegerField(unique=True, help_text="how many entries it commits to")
    frontier = models.TextField(help_text="where the next checkpoint goes on; trusted by nobody")
    note = models.TextField()
    newest_entry = models.BigIntegerField(help_text="the largest id of the entries in it")
    at = models.DateTimeField()


class AuditSink(models.Model):
    """How far a place outside has the checkpoints (SIGNOFF_AUDIT_SINKS)."""

    address = models.CharField(max_length=500, unique=True)
    size = models.BigIntegerField(default=0, help_text="of the last checkpoint that it has")
    problem = models.CharField(max_length=200, blank=True, help_text="why it has no later one")
    tried_at = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True, help_text="until then nobody else sends there")


class AuditCheck(models.Model):
    """
    What the last verification in the background has found. There is one row.

    It convinces nobody who does not trust the database: `audit_verify` and exports do.
    """

    at = models.DateTimeField(null=True, help_text="null: nobody has verified yet")
    whole_at = models.DateTimeField(null=True, help_text="when all entries were verified last")
    not_before = models.DateTimeField(help_text="until then nobody else verifies")
    verdict = models.CharField(max_length=10, blank=True)
    findings = models.TextField(default="[]", help_text="JSON: where, and what the problem is")
    reached = models.BigIntegerField(default=0, help_text="how many entries were verified")
    checkpoint = models.TextField(default="{}", help_text="JSON: size, time and root")
    key_name = models.CharField(max_length=200, blank=True)
    is_outside = models.BooleanField(default=False)

    #: Set by `claim_verification` when everything is to be verified.
    whole_is_due = False

    @property
    def problems(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = json.loads(self.findings)
        return found

    @property
    def point(self) -> dict[str, Any]:
        """The checkpoint that it rests on, {} where there is none."""
        found: dict[str, Any] = json.loads(self.checkpoint)
        return found


class RefusalCount(models.Model):
    """
    How often one actor was refused the same thing for the same reason.

    The audit trail has an entry for the first, the tenth, the hundredth, and so on.
    """

    about = models.UUIDField(help_text="the interrupt, the run, the thread or the agent")
    actor = models.CharField(max_length=80, help_text="inbox.rules.people.access.actor_key")
    tried = models.CharField(max_length=20)
    code = models.CharField(max_length=40)
    count = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["about", "actor", "tried", "code"], name="one_count_per_refusal"
            )
        ]
