"""The tool calls there are get what their threads and the answers about them say."""

import json

from django.db import migrations
from django.db.models import OuterRef, Subquery

from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus
from inbox.rules.runs.tool_call_outcome import outweighs, outcome_of_entry


def fill(apps, schema_editor):
    ToolCall = apps.get_model("inbox", "ToolCall")
    own = apps.get_model("inbox", "Thread").objects.filter(pk=OuterRef("thread"))
    ToolCall.objects.update(team=Subquery(own.values("team")), agent=Subquery(own.values("agent")))
    decisions = apps.get_model("inbox", "Decision").objects.filter(
        withdrawn_at=None, interrupt__tool_call__isnull=False
    )
    verdicts = {}
    for one in decisions.select_related("interrupt").order_by("created_at", "pk").iterator():
        by = str(one.user_id or one.api_key_id or one.actor_label)
        payload = json.loads(one.payload) if one.payload else None
        verdict = outcome_of_entry(ResumeEntry("", EntryStatus(one.status), payload), by=by)
        call = one.interrupt.tool_call_id
        if outweighs(verdict, verdicts.get(call, ("", ""))[0]):
            verdicts[call] = verdict, by[:64]
    for call, (verdict, by) in verdicts.items():
        ToolCall.objects.filter(pk=call).update(verdict=verdict, decided_by=by)


class Migration(migrations.Migration):

    dependencies = [('inbox', '0021_calls_of_teams')]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
