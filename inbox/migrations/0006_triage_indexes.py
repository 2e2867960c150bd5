"""The first page of each list is the beginning of an index."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

OPEN = Q(status='open')


def first_page(name, fields, condition):
    return migrations.AddIndex(
        model_name='interrupt',
        index=models.Index(fields=fields, condition=condition, name=name),
    )


class Migration(migrations.Migration):

    dependencies = [('inbox', '0005_fill_triage')]

    operations = [
        migrations.AlterField(
            model_name='interrupt',
            name='agent',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.agent'),
        ),
        migrations.RemoveIndex(model_name='interrupt', name='decided_by_time'),
        first_page('pending_by_time', ['team', 'status', 'id'], OPEN),
        first_page('pending_of_agent', ['team', 'agent', 'due_at', 'id'], OPEN),
        first_page('pending_of_tool', ['team', 'tool', 'due_at', 'id'], OPEN),
        first_page('pending_of_reason', ['team', 'reason', 'due_at', 'id'], OPEN),
        first_page('pending_of_shape', ['team', 'shape', 'due_at', 'id'], OPEN),
        first_page('decided_by_time', ['team', 'closed_at', 'id'], ~OPEN),
        first_page('decided_by_status', ['team', 'status', 'closed_at', 'id'], ~OPEN),
        first_page('decided_of_agent', ['team', 'agent', 'closed_at', 'id'], ~OPEN),
        first_page('decided_of_tool', ['team', 'tool', 'closed_at', 'id'], ~OPEN),
        first_page('decided_of_reason', ['team', 'reason', 'closed_at', 'id'], ~OPEN),
        first_page('decided_by_person', ['team', 'decided_by', 'closed_at', 'id'], ~OPEN),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(fields=['team', 'id'], name='asked_of_a_team'),
        ),
    ]
