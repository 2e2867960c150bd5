"""Where triggers were installed that are now looked after by inbox.platform.append_only_triggers."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("inbox", "0001_initial")]
    operations = []
