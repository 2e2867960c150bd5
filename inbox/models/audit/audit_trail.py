"""The audit trail, its transparency log, and the state of verification."""

import json
from typing import Any

from django.db import models

from inbox.models.fields import id_field
from inbox.models.people.teams import Team
from inbox.models.runs.interrupts import Interrupt
from inbox.models.runs.threads import Run, Thread
from inbox.models.runs.tool_calls import ToolCall


def _about(
    model: type[models.Model], *, db_index: bool, related_name: str = "+"
) -> "models.ForeignKey[Any, Any]":
    """Return the reference to a row of a thread; the entry stays when the thread is deleted."""
    return models.ForeignKey(
        model,
        null=True,
        on_delete=models.DO_NOTHING,
        related_name=related_name,
        db_index=db_index,
        db_constraint=False,
    )


class AuditEntry(models.Model):
    """
    One audited action, written in its transaction. Append-only, enforced by triggers.

    `body` is authoritative: canonical JSON text with the hash of the previous entry of its chain,
    which belongs to a thread, a team, or is SYSTEM_CHAIN (inbox.rules.audit.audit_entry). `hash` is
    its sha256. The other columns repeat its values for searches.
    """

    chain = models.UUIDField()
    seq = models.BigIntegerField(help_text="position in the chain, from 1")
    body = models.TextField()
    hash = models.CharField(max_length=64)
    team = models.ForeignKey(
        Team, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
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
    def content(self) -> dict[str, Any]:
        """Return the names, `digests` and `detail` of the payload, empty once erased."""
        payload: AuditPayload | None = getattr(self, "payload", None)
        defaults: dict[str, Any] = {"actor": "", "on_behalf": "", "digests": {}, "detail": {}}
        stored = _read_payload(payload.text) if payload else {}
        return {
            name: stored[name] if isinstance(stored.get(name), type(empty)) else empty
            for name, empty in defaults.items()
        }


def _read_payload(text: str) -> dict[str, Any]:
    """Parse a payload; return {} if it was replaced by other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


class AuditPayload(models.Model):
    """
    The names and texts of an entry, until they are erased.

    The entry has the sha256 of the salt and the text. A trigger allows deleting a row only after a
    later entry of the chain has recorded the erasure.
    """

    entry = models.OneToOneField(
        AuditEntry, on_delete=models.PROTECT, related_name="payload", primary_key=True
    )
    salt = models.CharField(max_length=64, help_text="32 random bytes in hex")
    text = models.TextField(help_text="canonical JSON text")


class AuditLeaf(models.Model):
    """The position of an entry in the log, from 0 without gaps. Append-only by triggers."""

    position = models.BigIntegerField(primary_key=True)
    entry = models.OneToOneField(AuditEntry, on_delete=models.PROTECT, related_name="leaf")


class AuditBlock(models.Model):
    """The cached root over 256 leaves, so that proofs read fewer rows. Can be rebuilt."""

    number = models.BigIntegerField(primary_key=True, help_text="of the block, from 0")
    root = models.CharField(max_length=64)


class AuditCheckpoint(models.Model):
    """A signed checkpoint of the log (rules.audit.signed_checkpoint); append-only by trigger."""

    size = models.BigIntegerField(unique=True, help_text="number of entries in the log")
    frontier = models.TextField(help_text="hashes that the next checkpoint extends; not trusted")
    note = models.TextField()
    newest_entry = models.BigIntegerField(help_text="largest id of these entries")
    at = models.DateTimeField()


class ExportSignature(models.Model):
    """
    A request of a process without the key to sign an export, and the signature.

    The separate signer answers it. The process that asked deletes the row; the signer deletes those
    that nobody has fetched.
    """

    id = id_field()
    entries = models.PositiveIntegerField(help_text="number of lines of the export")
    digest = models.CharField(max_length=64, help_text="SHA-256 of these lines")
    note = models.TextField(blank=True, help_text="the signature; blank until it is there")
    at = models.DateTimeField(help_text="of the request")


class CheckpointSink(models.Model):
    """The delivery state of an external checkpoint sink (SIGNOFF_AUDIT_SINKS)."""

    address = models.CharField(max_length=500, unique=True)
    size = models.BigIntegerField(default=0, help_text="of the last checkpoint it received")
    problem = models.CharField(max_length=200, blank=True, help_text="error of the last attempt")
    tried_at = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True, help_text="no other process sends earlier")


class EntrySink(models.Model):
    """The delivery state of a sink of audit entries (SIGNOFF_AUDIT_ENTRY_SINKS)."""

    address = models.CharField(max_length=500, unique=True)
    position = models.BigIntegerField(
        default=0, help_text="number of entries of the log that it has"
    )
    problem = models.CharField(max_length=200, blank=True, help_text="error of the last attempt")
    tried_at = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True, help_text="no other process sends earlier")


class AuditVerification(models.Model):
    """
    The state of the background verification, in one row.

    Not proof against a malicious database administrator; `audit_verify` and exports are.
    """

    at = models.DateTimeField(null=True, help_text="null before the first verification")
    fully_verified_at = models.DateTimeField(null=True, help_text="last time of all entries")
    not_before = models.DateTimeField(help_text="no process verifies earlier")
    requested_at = models.DateTimeField(null=True, help_text="when a person last asked for it")
    started_at = models.DateTimeField(null=True, help_text="of the last or the current one")
    seconds = models.FloatField(null=True, help_text="that the last one took")
    checked = models.BigIntegerField(
        default=0, db_default=0, help_text="number of entries that the current one has read"
    )
    verdict = models.CharField(max_length=10, blank=True)
    findings = models.JSONField(default=list, help_text="list of `place`, `code` and `arguments`")
    verified_entries = models.BigIntegerField(default=0, help_text="number of verified entries")
    checkpoint = models.JSONField(default=dict, help_text="size, time and root")
    key_name = models.CharField(max_length=200, blank=True)
    has_external_checkpoint = models.BooleanField(default=False)

    #: Set by `claim_verification` when all entries are due for verification.
    is_full_due = False


class RejectionCount(models.Model):
    """
    The number of refusals of one action to one actor for the same reason.

    The audit trail has an entry for the first, the tenth, the hundredth, and so on.
    """

    subject_id = models.UUIDField(help_text="id of the interrupt, run, thread or agent")
    actor = models.CharField(max_length=80, help_text="inbox.rules.people.access.actor_key")
    action = models.CharField(max_length=20)
    code = models.CharField(max_length=40)
    count = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["subject_id", "actor", "action", "code"], name="one_count_per_rejection"
            )
        ]
