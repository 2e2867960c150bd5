"""Let teams limit the sessions of their members."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "0098_owners")]

    operations = [
        migrations.AddField(
            model_name="team",
            name="session_idle_minutes",
            field=models.PositiveIntegerField(
                help_text="of the members' sessions without use; null: as the installation",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="team",
            name="session_hours",
            field=models.PositiveIntegerField(
                help_text="of the members' sessions in total; null: as the installation",
                null=True,
            ),
        ),
    ]
