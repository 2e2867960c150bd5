from django.db import migrations, models

import inbox.rules.people.reject_reasons


class Migration(migrations.Migration):
    dependencies = [("inbox", "0076_file_retention_and_attachments")]

    operations = [
        migrations.AddField(
            model_name="team",
            name="reject_reasons",
            field=models.JSONField(
                default=inbox.rules.people.reject_reasons.default_reject_reasons,
                db_default=models.Value(
                    ["Wrong amount", "Wrong recipient", "Not now", "Needs more detail"],
                    models.JSONField(),
                ),
                help_text="short texts that a note of a rejection can start with",
            ),
        ),
    ]
