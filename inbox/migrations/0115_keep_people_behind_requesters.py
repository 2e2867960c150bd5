"""
Store the people behind the keys whose runs are open, as far as the keys still tell them.

Later rotations and new owners of a key then no longer change who requested these runs.
"""

import json

from django.db import migrations
from django.db.models import Q

BATCH = 500


def keep_people(apps, schema_editor):
    Run = apps.get_model("inbox", "Run")
    ApiKey = apps.get_model("inbox", "ApiKey")
    is_open = Q(status__in=("queued", "running")) | Q(interrupts__status="open")
    may_be_retried = Q(status="failed", retried_by=None)
    rows = Run.objects.filter(is_open | may_be_retried, requester_people=None)
    rows = rows.exclude(requester_key=None).order_by("pk").distinct()
    while batch := list(rows.values_list("pk", "requester_key")[:BATCH]):
        keys = ApiKey.objects.in_bulk({key for _, key in batch})
        for pk, key in batch:
            people = {keys[key].made_by_user_id, keys[key].owner_id} - {None}
            row = Run.objects.filter(pk=pk, requester_people=None)
            row.update(requester_people=json.dumps(sorted(people)))


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('inbox', '0114_people_behind_requesters'),
    ]

    operations = [
        migrations.RunPython(keep_people, migrations.RunPython.noop, elidable=True),
    ]
