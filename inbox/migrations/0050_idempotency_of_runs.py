"""Store the idempotency keys of runs with those of other requests."""

from django.db import migrations


def copy_keys(apps, schema_editor):
    """Add a record for each run with a key; where both have the key, the record stays."""
    Run = apps.get_model("inbox", "Run")
    IdempotencyRecord = apps.get_model("inbox", "IdempotencyRecord")
    runs = Run.objects.exclude(idempotency_key=None).values_list(
        "pk", "idempotency_key", "request_digest", "queued_at"
    )
    batch = []
    for pk, key, request, queued_at in runs.iterator(chunk_size=2_000):
        batch.append(
            # The run's id is unused as a record's, and keeps their order.
            IdempotencyRecord(
                id=pk, key_digest=key, request_digest=request, created_id=pk, created_at=queued_at
            )
        )
        if len(batch) == 2_000:
            IdempotencyRecord.objects.bulk_create(batch, ignore_conflicts=True)
            batch.clear()
    IdempotencyRecord.objects.bulk_create(batch, ignore_conflicts=True)


def restore_keys(apps, schema_editor):
    """Return each record of a run to its run."""
    Run = apps.get_model("inbox", "Run")
    records = apps.get_model("inbox", "IdempotencyRecord").objects.filter(
        created_id__in=Run.objects.values("pk")
    )
    for record in records.iterator():
        Run.objects.filter(pk=record.created_id).update(
            idempotency_key=record.key_digest, request_digest=record.request_digest
        )
    records.delete()


class Migration(migrations.Migration):
    dependencies = [("inbox", "0049_plain_names")]

    operations = [migrations.RunPython(copy_keys, restore_keys)]
