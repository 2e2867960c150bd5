import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def _user():
    return models.ForeignKey(
        db_index=False,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
    )


class Migration(migrations.Migration):

    dependencies = [
        ("inbox", "0078_grace_of_ten_seconds"),
    ]

    operations = [
        migrations.CreateModel(
            name="Assignee",
            fields=[
                (
                    "interrupt",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="assignee",
                        serialize=False,
                        to="inbox.interrupt",
                    ),
                ),
                ("user", _user()),
                ("assigned_by", _user()),
                ("assigned_at", models.DateTimeField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["user", "interrupt"], name="assigned_to_a_person")
                ],
            },
        ),
        migrations.CreateModel(
            name="Snooze",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "interrupt",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="inbox.interrupt",
                    ),
                ),
                ("user", _user()),
                ("until", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["user", "until"], name="snoozes_of_a_person")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("interrupt", "user"), name="one_snooze_per_person"
                    )
                ],
            },
        ),
    ]
