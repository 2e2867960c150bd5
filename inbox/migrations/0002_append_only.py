"""Triggers that keep events and audit entries as they were written."""

from django.db import migrations

from inbox.models import append_only

TABLES = ("inbox_event", "inbox_auditentry")


def install(apps, schema_editor):
    append_only.install(schema_editor, TABLES)


def remove(apps, schema_editor):
    append_only.remove(schema_editor, TABLES)


class Migration(migrations.Migration):
    dependencies = [("inbox", "0001_initial")]
    operations = [migrations.RunPython(install, remove)]
