"""Bind API keys to networks."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "0100_required_sign_in")]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="networks",
            field=models.JSONField(
                db_default=models.Value([], models.JSONField()),
                default=list,
                help_text="CIDR ranges of the clients that may use it; empty: all",
            ),
        ),
    ]
