"""Record the owners of keys, webhooks and invitations: they end when their owner leaves."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def _owner(help_text: str) -> models.ForeignKey:
    return models.ForeignKey(
        db_index=False,
        help_text=help_text,
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
    )


class Migration(migrations.Migration):
    dependencies = [("inbox", "0095_agent_pauses")]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="owner",
            field=_owner("the key ends when this person leaves; null: the person in made_by_user"),
        ),
        migrations.AddField(
            model_name="invitation",
            name="owner",
            field=_owner("the invitation ends when this person leaves; null: a command, or not known"),
        ),
        migrations.AddField(
            model_name="webhookendpoint",
            name="owner",
            field=_owner("the webhook is disabled when this person leaves; null: not known, or a command"),
        ),
        migrations.AlterField(
            model_name="webhookendpoint",
            name="disabled_reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("by_hand", "By hand"),
                    ("owner_left", "Owner left"),
                    ("gone", "Gone"),
                    ("failing", "Failing"),
                ],
                max_length=10,
            ),
        ),
    ]
