"""Every list of tool calls is the beginning of an index."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('inbox', '0022_fill_calls_of_teams')]

    operations = [
        migrations.AlterField(
            model_name='toolcall',
            name='agent',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.agent'),
        ),
        migrations.AlterField(
            model_name='toolcall',
            name='team',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.team'),
        ),
        migrations.AddIndex(
            model_name='toolcall',
            index=models.Index(fields=['team', 'id'], name='calls_of_a_team'),
        ),
        migrations.AddIndex(
            model_name='toolcall',
            index=models.Index(fields=['agent', 'id'], name='calls_of_agent'),
        ),
        migrations.AddIndex(
            model_name='toolcall',
            index=models.Index(fields=['team', 'name', 'id'], name='calls_of_tool'),
        ),
        migrations.AddIndex(
            model_name='toolcall',
            index=models.Index(fields=['team', 'verdict', 'id'], name='calls_by_verdict'),
        ),
        migrations.AddIndex(
            model_name='toolcall',
            index=models.Index(fields=['team', 'decided_by', 'id'], name='calls_by_person'),
        ),
        migrations.AddIndex(
            model_name='toolcall',
            index=models.Index(fields=['tool_call_id'], name='calls_by_wire_id'),
        ),
    ]
