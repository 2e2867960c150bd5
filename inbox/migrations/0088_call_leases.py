"""Store who executes an approved call, and until when."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "0087_pulled_runs")]

    operations = [
        migrations.AddField(
            model_name="toolcall",
            name="attempt",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="of the external program that started it, as it names it",
                max_length=100,
            ),
        ),
        migrations.AddField(
            model_name="toolcall",
            name="executed_args",
            field=models.TextField(
                help_text="as an external program reports them; null if as approved", null=True
            ),
        ),
        migrations.AddField(
            model_name="toolcall",
            name="late_report",
            field=models.TextField(
                help_text="JSON text of a report after the call was in doubt", null=True
            ),
        ),
        migrations.AddField(
            model_name="toolcall",
            name="lease_until",
            field=models.DateTimeField(
                help_text="until when an external program has to report", null=True
            ),
        ),
        migrations.AddField(
            model_name="toolcall",
            name="outcome",
            field=models.CharField(
                blank=True,
                choices=[
                    ("succeeded", "Succeeded"),
                    ("failed", "Failed"),
                    ("unknown", "Unknown"),
                    ("handed_over", "Handed over"),
                ],
                db_default="",
                default="",
                help_text="that an external program reported",
                max_length=12,
            ),
        ),
        migrations.AddField(
            model_name="toolcall",
            name="start_before",
            field=models.DateTimeField(
                help_text="until when an external program may start the approved call", null=True
            ),
        ),
        migrations.AddIndex(
            model_name="toolcall",
            index=models.Index(
                condition=models.Q(
                    ("lease_until__isnull", False),
                    ("state", "started"),
                ),
                fields=["lease_until"],
                name="calls_by_lease",
            ),
        ),
        migrations.AddIndex(
            model_name="toolcall",
            index=models.Index(
                condition=models.Q(
                    ("start_before__isnull", False),
                    ("state", "proposed"),
                ),
                fields=["start_before"],
                name="calls_by_last_start",
            ),
        ),
    ]
