"""Workers report that they are alive, so that readiness and metrics can tell."""

import uuid6
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "0102_export_signatures")]

    operations = [
        migrations.CreateModel(
            name="WorkerHeartbeat",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("host", models.CharField(max_length=200)),
                ("started_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                ("is_consuming", models.BooleanField(help_text="whether it receives messages of the broker")),
                ("swept_at", models.DateTimeField(help_text="end of its last sweep", null=True)),
            ],
        ),
    ]
