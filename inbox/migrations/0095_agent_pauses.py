"""Pause agents, and announce the pauses of agents that ask beyond their limits."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("inbox", "0094_team_limits"),
    ]

    operations = [
        migrations.AddField(
            model_name="agent",
            name="pause_reason",
            field=models.CharField(
                blank=True,
                choices=[("flood", "Flood"), ("by_hand", "By hand")],
                db_default="",
                default="",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="agent",
            name="paused_at",
            field=models.DateTimeField(help_text="since when it starts nothing new", null=True),
        ),
        migrations.AddField(
            model_name="announcement",
            name="agent",
            field=models.ForeignKey(
                db_index=False,
                help_text="that was paused",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="inbox.agent",
            ),
        ),
        migrations.AlterField(
            model_name="announcement",
            name="kind",
            field=models.CharField(
                choices=[
                    ("opened", "Opened"),
                    ("reminded", "Reminded"),
                    ("escalated", "Escalated"),
                    ("expiring", "Expiring"),
                    ("decided", "Decided"),
                    ("assigned", "Assigned"),
                    ("mentioned", "Mentioned"),
                    ("overruled", "Overruled"),
                    ("overridden", "Overridden"),
                    ("policy_published", "Policy published"),
                    ("channel_disabled", "Channel disabled"),
                    ("agent_paused", "Agent paused"),
                    ("test", "Test"),
                ],
                max_length=20,
            ),
        ),
    ]
