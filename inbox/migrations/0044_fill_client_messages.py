"""Store what clients sent to the threads that are there, a few threads at a time."""

import json
from uuid import UUID

from django.db import migrations

from agents.agui.conversation import fingerprint
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES

AT_ONCE = 100


def fill(apps, schema_editor):
    Thread, Run = apps.get_model("inbox", "Thread"), apps.get_model("inbox", "Run")
    # What a run that ends meanwhile has stored stays.
    empty = Thread.objects.filter(client_messages=None)
    last = UUID(int=0)
    while threads := list(empty.filter(pk__gt=last).order_by("pk").only("pk")[:AT_ONCE]):
        for thread in threads:
            # An active run stores those of its own input when it ends.
            ended = Run.objects.filter(thread=thread).exclude(status__in=ACTIVE_RUN_STATUSES)
            thread.client_messages = json.dumps(_messages_of(ended))
        empty.bulk_update(threads, ["client_messages"])
        last = threads[-1].pk


def _messages_of(runs):
    messages = {}
    for given in runs.order_by("pk").values_list("input", flat=True).iterator(1):
        for message in json.loads(given).get("messages", ()):
            messages.setdefault(message["id"], fingerprint(message))
    return messages


class Migration(migrations.Migration):
    atomic = False  # each batch is a transaction of its own

    dependencies = [("inbox", "0043_request_of_an_answer")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
