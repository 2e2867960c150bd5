"""Store who has hidden the first steps of a new team."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "0084_sent_back_calls")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="hides_first_steps",
            field=models.BooleanField(
                db_default=False, help_text="the first steps of a new team are not shown"
            ),
        ),
    ]
