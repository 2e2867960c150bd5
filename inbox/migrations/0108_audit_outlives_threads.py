"""
Drop the foreign keys of audit entries to threads and their rows, which entries outlive.

The columns and their indexes stay. The tables are locked in the order of the product's transactions,
so that those wait for the migration, instead of each for the other.
"""

import django.db.models.deletion
from django.db import migrations, models


def _about(model: str, *, db_index: bool = True, related_name: str = "+") -> models.ForeignKey:
    return models.ForeignKey(
        db_constraint=False,
        db_index=db_index,
        null=True,
        on_delete=django.db.models.deletion.DO_NOTHING,
        related_name=related_name,
        to=model,
    )


def _lock_tables(apps, schema_editor) -> None:
    if schema_editor.connection.vendor == "postgresql":
        for table in ("thread", "run", "toolcall", "interrupt", "auditentry"):
            schema_editor.execute(f"LOCK TABLE inbox_{table} IN ACCESS EXCLUSIVE MODE")


class Migration(migrations.Migration):
    dependencies = [("inbox", "0107_thread_retention")]

    operations = [
        migrations.RunPython(_lock_tables, _lock_tables, elidable=True),
        migrations.AlterField(
            model_name="auditentry",
            name="thread",
            field=_about("inbox.thread", db_index=False, related_name="audit"),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="run",
            field=_about("inbox.run"),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="interrupt",
            field=_about("inbox.interrupt", related_name="audit"),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="tool_call",
            field=_about("inbox.toolcall"),
        ),
    ]
