"""The columns of the audit chain, empty for a moment; the log of all entries; erasable payloads."""

import django.db.models.deletion
from django.db import migrations, models

from inbox.platform import append_only_triggers


def take_triggers_away(apps, schema_editor):
    append_only_triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):

    dependencies = [("inbox", "0014_list_indexes")]

    operations = [
        migrations.RunPython(take_triggers_away, migrations.RunPython.noop),
        migrations.CreateModel(
            name="AuditBlock",
            fields=[
                ("number", models.BigIntegerField(help_text="of the block, from 0", primary_key=True, serialize=False)),
                ("root", models.CharField(max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name="AuditCheckpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("size", models.BigIntegerField(help_text="how many entries it commits to", unique=True)),
                ("frontier", models.TextField(help_text="where the next checkpoint goes on; trusted by nobody")),
                ("note", models.TextField()),
                ("newest_entry", models.BigIntegerField(help_text="the largest id of the entries in it")),
                ("at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="AuditLeaf",
            fields=[
                ("position", models.BigIntegerField(primary_key=True, serialize=False)),
                ("entry", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name="leaf", to="inbox.auditentry")),
            ],
        ),
        migrations.CreateModel(
            name="AuditPayload",
            fields=[
                ("entry", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name="payload", serialize=False, to="inbox.auditentry")),
                ("salt", models.CharField(help_text="32 random bytes in hex", max_length=64)),
                ("text", models.TextField(help_text="canonical JSON text")),
            ],
        ),
        migrations.AddField("auditentry", "chain", models.UUIDField(null=True)),
        migrations.AddField(
            "auditentry", "seq", models.BigIntegerField(null=True, help_text="its place in the chain, from 1")
        ),
        migrations.AddField("auditentry", "body", models.TextField(null=True)),
        migrations.AddField("auditentry", "hash", models.CharField(max_length=64, null=True)),
        migrations.AddField(
            "auditentry",
            "tool_call",
            models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="inbox.toolcall"),
        ),
        migrations.AddField("auditentry", "erases_from", models.BigIntegerField(null=True)),
        migrations.AddField("auditentry", "erases_to", models.BigIntegerField(null=True)),
    ]
