"""Mark the runs that programs execute themselves, which no worker claims."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "0086_external_agents")]

    operations = [
        migrations.RemoveIndex(
            model_name="run",
            name="queued_runs",
        ),
        migrations.RemoveIndex(
            model_name="run",
            name="running_runs",
        ),
        migrations.AddField(
            model_name="run",
            name="pulled",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="of an external agent, which executes it itself; no worker claims it",
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("pulled", False), ("status", "queued")),
                fields=["queued_at"],
                name="queued_runs",
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("pulled", False), ("status", "running")),
                fields=["lease_until"],
                name="running_runs",
            ),
        ),
    ]
