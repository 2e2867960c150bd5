"""Store agents that run by themselves, their sessions and their requests."""

import django.db.models.deletion
import uuid6
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "0085_first_steps")]

    operations = [
        migrations.CreateModel(
            name="AgentRequest",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid6.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("decided", "Decided"),
                            ("done", "Done"),
                            ("withdrawn", "Withdrawn"),
                            ("expired", "Expired"),
                            ("lapsed", "Lapsed"),
                        ],
                        default="open",
                        max_length=10,
                    ),
                ),
                (
                    "requester",
                    models.TextField(help_text="JSON text: name and url, not verified", null=True),
                ),
                (
                    "execution",
                    models.TextField(help_text="JSON text: item id -> how its call is executed"),
                ),
                (
                    "callback",
                    models.TextField(blank=True, help_text="encrypted URL; blank for none"),
                ),
                (
                    "attach_digest",
                    models.CharField(
                        blank=True,
                        help_text="of session, tool and arguments; blank if not to join",
                        max_length=64,
                    ),
                ),
                ("withdrawn_at", models.DateTimeField(null=True)),
                ("withdrawal_reason", models.CharField(blank=True, max_length=500)),
                (
                    "heard_at",
                    models.DateTimeField(help_text="when the program last asked about it"),
                ),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="AgentSession",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid6.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "external_id",
                    models.CharField(help_text="as the program names it", max_length=200),
                ),
                ("title", models.CharField(blank=True, max_length=200)),
                ("last_at", models.DateTimeField(help_text="of the latest request")),
            ],
        ),
        migrations.AddField(
            model_name="agent",
            name="callback_prefixes",
            field=models.TextField(
                db_default="[]",
                default="[]",
                help_text="JSON text: the URLs below which programs may be called back",
            ),
        ),
        migrations.AddField(
            model_name="agentrequest",
            name="agent",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="inbox.agent",
            ),
        ),
        migrations.AddField(
            model_name="agentrequest",
            name="team",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="inbox.team",
            ),
        ),
        migrations.AddField(
            model_name="agentrequest",
            name="thread",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="request",
                to="inbox.thread",
            ),
        ),
        migrations.AddField(
            model_name="agentsession",
            name="agent",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="sessions",
                to="inbox.agent",
            ),
        ),
        migrations.AddField(
            model_name="agentrequest",
            name="session",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="requests",
                to="inbox.agentsession",
            ),
        ),
        migrations.AddConstraint(
            model_name="agentsession",
            constraint=models.UniqueConstraint(
                fields=("agent", "external_id"), name="one_session_per_id"
            ),
        ),
        migrations.AddIndex(
            model_name="agentrequest",
            index=models.Index(fields=["team", "id"], name="requests_of_team"),
        ),
        migrations.AddIndex(
            model_name="agentrequest",
            index=models.Index(fields=["agent", "status", "id"], name="requests_by_status"),
        ),
        migrations.AddIndex(
            model_name="agentrequest",
            index=models.Index(fields=["agent", "created_at"], name="requests_by_time"),
        ),
        migrations.AddIndex(
            model_name="agentrequest",
            index=models.Index(fields=["session", "id"], name="requests_of_session"),
        ),
        migrations.AddIndex(
            model_name="agentrequest",
            index=models.Index(
                condition=models.Q(("attach_digest", ""), _negated=True),
                fields=["session", "attach_digest", "id"],
                name="requests_to_join",
            ),
        ),
        migrations.AddConstraint(
            model_name="agentrequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("status__in", ["open", "decided", "done", "withdrawn", "expired", "lapsed"])
                ),
                name="request_status_is_known",
            ),
        ),
    ]
