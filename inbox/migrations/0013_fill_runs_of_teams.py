"""The runs there are get what their threads say."""

from django.db import migrations
from django.db.models import OuterRef, Subquery


def fill(apps, schema_editor):
    Run = apps.get_model("inbox", "Run")
    Thread = apps.get_model("inbox", "Thread")
    own = Thread.objects.filter(pk=OuterRef("thread"))
    Run.objects.update(team=Subquery(own.values("team")), agent=Subquery(own.values("agent")))


class Migration(migrations.Migration):

    dependencies = [('inbox', '0012_runs_of_teams')]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
