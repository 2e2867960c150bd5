"""Let teams delete old threads, and keep single ones."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "0106_entry_sinks")]

    operations = [
        migrations.AddField(
            model_name="team",
            name="thread_days",
            field=models.PositiveIntegerField(
                help_text="days without activity until a thread is deleted; 0: never; "
                "null: as the installation",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="thread",
            name="is_kept",
            field=models.BooleanField(
                db_default=False, default=False, help_text="it is not deleted by its age"
            ),
        ),
    ]
