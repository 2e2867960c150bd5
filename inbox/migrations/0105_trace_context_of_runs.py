"""Runs keep the context of the trace that queued them, so that workers continue it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "0104_worker_heartbeats")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="trace_context",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="of the span that queued it (W3C traceparent); blank without traces",
                max_length=55,
            ),
        ),
    ]
