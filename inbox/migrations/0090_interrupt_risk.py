"""Store the risk of interrupts for lists."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "0089_subscribe_to_assignments")]

    operations = [
        migrations.AddField(
            model_name="interrupt",
            name="severity",
            field=models.CharField(
                max_length=8,
                blank=True,
                default="",
                db_default="",
                help_text="of the risk, as the agent says; blank if it does not, for lists",
            ),
        ),
        migrations.AddField(
            model_name="interrupt",
            name="is_reversible",
            field=models.BooleanField(null=True, help_text="as the agent says, for lists"),
        ),
    ]
