"""Runs say themselves which team's and which agent's they are."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('inbox', '0011_api_keys')]

    operations = [
        migrations.AddField(
            model_name='run',
            name='agent',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.agent'),
        ),
        migrations.AddField(
            model_name='run',
            name='team',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.team'),
        ),
    ]
