"""The positions of the sinks that get every audit entry."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "0105_trace_context_of_runs")]

    operations = [
        migrations.CreateModel(
            name="EntrySink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("address", models.CharField(max_length=500, unique=True)),
                ("position", models.BigIntegerField(default=0, help_text="number of entries of the log that it has")),
                ("problem", models.CharField(blank=True, help_text="error of the last attempt", max_length=200)),
                ("tried_at", models.DateTimeField(null=True)),
                ("not_before", models.DateTimeField(help_text="no other process sends earlier", null=True)),
            ],
        ),
    ]
