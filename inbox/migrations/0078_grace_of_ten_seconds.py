from django.db import migrations, models


class Migration(migrations.Migration):
    """New teams have ten seconds to undo decisions; those that exist keep their setting."""

    dependencies = [("inbox", "0077_reject_reasons")]

    operations = [
        migrations.AlterField(
            model_name="team",
            name="grace_seconds",
            field=models.PositiveSmallIntegerField(
                default=10, help_text="delay between the last answer and the resume of the run"
            ),
        ),
    ]
