"""Store how teams show the calls of tools."""

import django.db.models.deletion
import uuid6
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', "0082_interrupt_risk"),
    ]

    operations = [
        migrations.CreateModel(
            name='ToolPresentation',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('tool', models.CharField(max_length=200)),
                ('body', models.TextField()),
                ('agent', models.ForeignKey(help_text='null: all agents', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='inbox.agent')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='inbox.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('agent', None)), fields=('team', 'tool'), name='one_presentation_of_a_tool'), models.UniqueConstraint(fields=('team', 'tool', 'agent'), name='one_presentation_of_agents_tool')],
            },
        ),
    ]
