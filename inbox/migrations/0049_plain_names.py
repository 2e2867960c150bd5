"""Rename tables and columns to standard terms; the data stays."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "0048_restore_active_run_index")]

    operations = [
        migrations.RenameModel("Order", "IdempotencyRecord"),
        migrations.RenameField("idempotencyrecord", "made", "created_id"),
        migrations.RemoveConstraint("sighting", "one_sighting_per_view"),
        migrations.RenameModel("Sighting", "InterruptView"),
        migrations.AddConstraint(
            "interruptview",
            models.UniqueConstraint(
                fields=["interrupt", "user", "view_digest"], name="one_view_per_reader"
            ),
        ),
        migrations.RemoveConstraint("unmasking", "one_unmasking_per_view"),
        migrations.RenameField("unmasking", "what", "value_set"),
        migrations.AddConstraint(
            "unmasking",
            models.UniqueConstraint(
                fields=["interrupt", "user", "view_digest", "value_set"],
                name="one_unmasking_per_view",
            ),
        ),
        migrations.RemoveConstraint("refusalcount", "one_count_per_refusal"),
        migrations.RenameModel("RefusalCount", "RejectionCount"),
        migrations.RenameField("rejectioncount", "about", "subject_id"),
        migrations.RenameField("rejectioncount", "tried", "action"),
        migrations.AddConstraint(
            "rejectioncount",
            models.UniqueConstraint(
                fields=["subject_id", "actor", "action", "code"], name="one_count_per_rejection"
            ),
        ),
        migrations.RenameModel("AuditCheck", "AuditVerification"),
        migrations.RenameField("auditverification", "whole_at", "fully_verified_at"),
        migrations.RenameField("auditverification", "reached", "verified_entries"),
        migrations.RenameField("auditverification", "is_outside", "has_external_checkpoint"),
        migrations.AlterField(
            "auditverification",
            "findings",
            models.JSONField(default=list, help_text="list of `place`, `code` and `arguments`"),
        ),
        migrations.AlterField(
            "auditverification",
            "checkpoint",
            models.JSONField(default=dict, help_text="size, time and root"),
        ),
        migrations.RenameModel("AuditSink", "CheckpointSink"),
        migrations.RenameField("endpoint", "test", "test_report"),
        migrations.RenameField("decision", "payload_written", "original_payload"),
        migrations.RenameField("decision", "call_before", "tool_call_before"),
        migrations.RenameField("toolcall", "args_written", "original_args"),
        migrations.RenameField("apikey", "made_by", "created_by"),
        migrations.RemoveIndex("interrupt", "pending_of_shape"),
        migrations.RenameField("interrupt", "shape", "similarity_key"),
        migrations.AddIndex(
            "interrupt",
            models.Index(
                fields=["team", "similarity_key", "due_at", "id"],
                condition=models.Q(status="open"),
                name="pending_by_similarity",
            ),
        ),
        migrations.RenameField("delivery", "by_hand", "is_manual"),
        migrations.RenameField("delivery", "tries", "failed_attempts"),
        migrations.RenameField("deliveryattempt", "answer", "response"),
    ]
