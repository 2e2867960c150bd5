"""The audit chain as it must be; its triggers are installed after every migration."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("inbox", "0016_fill_audit_chain")]

    operations = [
        migrations.RemoveField("auditentry", "actor_label"),
        migrations.RemoveField("auditentry", "detail"),
        migrations.AlterField("auditentry", "chain", models.UUIDField()),
        migrations.AlterField(
            "auditentry", "seq", models.BigIntegerField(help_text="its place in the chain, from 1")
        ),
        migrations.AlterField("auditentry", "body", models.TextField()),
        migrations.AlterField("auditentry", "hash", models.CharField(max_length=64)),
        migrations.AlterField(
            "auditentry",
            "team",
            models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="inbox.team"),
        ),
        migrations.AlterField(
            "auditentry",
            "thread",
            models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="audit", to="inbox.thread"),
        ),
        migrations.AddIndex(
            "auditentry", models.Index(fields=["team", "action", "-id"], name="audit_by_action")
        ),
        migrations.AddIndex(
            "auditentry",
            models.Index(fields=["team", "actor_kind", "actor_id", "-id"], name="audit_by_actor"),
        ),
        migrations.AddIndex(
            "auditentry",
            models.Index(
                condition=models.Q(("erases_from__isnull", False)),
                fields=["chain", "erases_from"],
                name="audit_erasures",
            ),
        ),
        migrations.AddConstraint(
            "auditentry",
            models.UniqueConstraint(fields=("chain", "seq"), name="one_entry_per_place"),
        ),
    ]
