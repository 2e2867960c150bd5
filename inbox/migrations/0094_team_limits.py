"""Store the limits of teams, and count the characters of events in their threads."""

import django.db.models.deletion
import uuid6
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("inbox", "0093_agent_errors"),
    ]

    operations = [
        migrations.AddField(
            model_name="thread",
            name="event_bytes",
            field=models.BigIntegerField(
                db_default=0,
                default=0,
                help_text="characters of its events, since they are counted",
            ),
        ),
        migrations.CreateModel(
            name="TeamLimits",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid6.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("running_runs", models.PositiveBigIntegerField(null=True)),
                ("queued_runs", models.PositiveBigIntegerField(null=True)),
                ("open_requests", models.PositiveBigIntegerField(null=True)),
                ("agent_open_requests", models.PositiveBigIntegerField(null=True)),
                ("agent_requests_per_minute", models.PositiveBigIntegerField(null=True)),
                ("threads", models.PositiveBigIntegerField(null=True)),
                ("streams", models.PositiveBigIntegerField(null=True)),
                ("sockets", models.PositiveBigIntegerField(null=True)),
                ("event_bytes", models.PositiveBigIntegerField(null=True)),
                ("file_bytes", models.PositiveBigIntegerField(null=True)),
                (
                    "team",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="inbox.team",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="TeamUse",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid6.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "threads",
                    models.PositiveBigIntegerField(help_text="with ids below `threads_to`"),
                ),
                (
                    "threads_to",
                    models.UUIDField(help_text="id that no thread had when they were counted"),
                ),
                ("event_bytes", models.PositiveBigIntegerField()),
                ("counted_at", models.DateTimeField()),
                (
                    "team",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="inbox.team",
                    ),
                ),
            ],
        ),
    ]
