"""Sessions are stored under digests of their keys: everybody signs in once more."""

from django.db import migrations


def end_all_sessions(apps, _schema_editor):
    for app, name in (("sessions", "Session"), ("usersessions", "UserSession")):
        apps.get_model(app, name).objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [
        ("inbox", "0031_client_messages"),
        ("sessions", "0001_initial"),
        ("usersessions", "0001_initial"),
    ]
    operations = [migrations.RunPython(end_all_sessions, end_all_sessions)]
