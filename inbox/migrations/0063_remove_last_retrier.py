"""Remove the columns of the last retrier, which `retriers` has."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("inbox", "0062_run_retriers")]

    operations = [
        migrations.RemoveField(model_name="run", name="retrier_user"),
        migrations.RemoveField(model_name="run", name="retrier_key"),
    ]
