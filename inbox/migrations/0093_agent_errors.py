"""Store what agents raise in the demo, for their authors."""

import django.db.models.deletion
import uuid6
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "0089_callbacks")]

    operations = [
        migrations.CreateModel(
            name="AgentError",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("text", models.TextField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="inbox.run",
                    ),
                ),
            ],
        ),
    ]
