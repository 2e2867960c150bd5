"""The audit trail, its transparency log, and the state of verification."""

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
    One audited action, written in its transaction. Append-only, enforced by triggers.

    `body` is authoritative: canonical JSON text with the hash of the previous entry of its chain,
    which belongs to a thread, a team, or is SYSTEM_CHAIN (inbox.rules.audit.audit_entry). `hash` is
    its sha256. The other columns repeat its values for searches.
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

    size = models.BigIntegerField(unique=True, help_text="how many entries it commits to")
    frontier = models.TextField(help_text="where the next checkpoint goes on; trusted by nobody")
    note = models.TextField()
    newest_entry = models.BigIntegerField(help_text="the largest id of the entries in it")
    at = models.DateTimeField()


class AuditSink(models.Model):
    """The delivery state of an external checkpoint sink (SIGNOFF_AUDIT_SINKS)."""

    address = models.CharField(max_length=500, unique=True)
    size = models.BigIntegerField(default=0, help_text="of the last checkpoint that it has")
    problem = models.CharField(max_length=200, blank=True, help_text="why it has no later one")
    tried_at = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True, help_text="until then nobody else sends there")


class AuditCheck(models.Model):
    """
    The state of the background verification, in one row.

    Not proof against a malicious database administrator; `audit_verify` and exports are.
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

    #: Set by `claim_verification` when all entries are due for verification.
    whole_is_due = False

    @property
    def problems(self) -> list[dict[str, str]]:
        findings: list[dict[str, str]] = json.loads(self.findings)
        return findings

    @property
    def point(self) -> dict[str, Any]:
        """Return the checkpoint that was verified against, {} if there is none."""
        checkpoint: dict[str, Any] = json.loads(self.checkpoint)
        return checkpoint


class RefusalCount(models.Model):
    """
    The number of refusals of one action to one actor for the same reason.

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
