from django.db import migrations

_KINDS = ["assigned", "mentioned"]


def subscribe(apps, schema_editor):
    """Let people who get notifications be told of assignments and mentions, too."""
    rows = apps.get_model("inbox", "Subscription").objects.exclude(channel__user=None)
    for row in rows.iterator():
        row.events = [*row.events, *(kind for kind in _KINDS if kind not in row.events)]
        row.save(update_fields=["events"])


def unsubscribe(apps, schema_editor):
    for row in apps.get_model("inbox", "Subscription").objects.iterator():
        row.events = [kind for kind in row.events if kind not in _KINDS]
        row.save(update_fields=["events"])


class Migration(migrations.Migration):

    dependencies = [
        ("inbox", "0080_personal_announcements"),
    ]

    operations = [
        migrations.RunPython(subscribe, unsubscribe),
    ]
