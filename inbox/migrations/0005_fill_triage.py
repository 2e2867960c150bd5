"""The requests there are get what their lists are narrowed by."""

import json

from django.db import migrations
from django.db.models import OuterRef, Subquery

from inbox.rules.decisions.similarity import search_text_of, similarity_key

AT_ONCE = 500


def fill(apps, schema_editor):
    Interrupt = apps.get_model("inbox", "Interrupt")
    Decision = apps.get_model("inbox", "Decision")
    last = None
    while True:
        rows = Interrupt.objects.select_related("thread__agent", "tool_call").defer(
            "thread__messages", "thread__state"
        )
        if last is not None:
            rows = rows.filter(pk__gt=last)
        found = list(rows.order_by("pk")[:AT_ONCE])
        if not found:
            break
        for row in found:
            _fill_one(row)
        Interrupt.objects.bulk_update(found, ["agent", "tool", "shape", "search_text"])
        last = found[-1].pk
    standing = Decision.objects.filter(interrupt=OuterRef("pk"), withdrawn_at=None)
    Interrupt.objects.exclude(status="open").update(
        decided_by=Subquery(standing.values("user")[:1])
    )


def _fill_one(row):
    asked = json.loads(row.body)
    args = json.loads(row.args) if row.args else None
    row.agent = row.thread.agent
    row.tool = row.tool_call.name if row.tool_call else ""
    row.search_text = search_text_of(row.title, asked.get("message") or "", row.tool, args=args)
    if row.tool and row.reason == "tool_call":
        schema = asked.get("responseSchema")
        row.shape = similarity_key(agent=str(row.agent.pk), tool=row.tool, args=args, schema=schema)


class Migration(migrations.Migration):

    dependencies = [('inbox', '0004_triage')]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
