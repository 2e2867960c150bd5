"""All who retried a run, not only the last one."""

import json

from django.db import migrations, models


def keep_retriers(apps, schema_editor):
    runs = apps.get_model("inbox", "Run").objects
    retried = runs.exclude(retrier_user=None, retrier_key=None).select_related("retrier_key")
    for run in retried.iterator(500):
        key = run.retrier_key
        person = key.made_by_user_id if key else run.retrier_user_id
        run.retriers = json.dumps(
            {
                "people": [person] if person is not None else [],
                "keys": [str(key.pk)] if key else [],
            }
        )
        run.save(update_fields=["retriers"])


def write_back_a_retrier(apps, schema_editor):
    runs = apps.get_model("inbox", "Run").objects
    for run in runs.exclude(retriers=None).iterator(500):
        retriers = json.loads(run.retriers)
        run.retrier_key_id = retriers["keys"][-1] if retriers["keys"] else None
        if run.retrier_key_id is None and retriers["people"]:
            run.retrier_user_id = retriers["people"][-1]
        run.save(update_fields=["retrier_user", "retrier_key"])
    if schema_editor.connection.vendor == "postgresql":
        # Foreign keys are checked at the commit, and such a table cannot be changed before.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    dependencies = [("inbox", "0061_installation_policy")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="retriers",
            field=models.TextField(
                help_text="JSON of inbox.rules.runs.retriers.Retriers; copied like the requester",
                null=True,
            ),
        ),
        migrations.RunPython(keep_retriers, write_back_a_retrier),
    ]
