"""Open interrupts expire when clients were told, also those that were capped at 30 days."""

import json
from datetime import UTC, datetime

from django.db import migrations


def uncap(apps, schema_editor):
    interrupts = apps.get_model("inbox", "Interrupt")
    rows = interrupts.objects.filter(status="open", expires_at__isnull=False)
    for row in rows.only("body", "expires_at", "due_at").iterator():
        told = json.loads(row.body).get("expiresAt")
        try:
            at = datetime.fromisoformat(told).astimezone(UTC) if told else row.expires_at
        except (ValueError, OverflowError):  # no time that a database can hold
            continue
        if at > row.expires_at:
            interrupts.objects.filter(pk=row.pk).update(expires_at=at, due_at=at)


class Migration(migrations.Migration):
    dependencies = [("inbox", "0036_request_expiry")]

    operations = [migrations.RunPython(uncap, migrations.RunPython.noop)]
