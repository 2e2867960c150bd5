"""Tool calls say themselves whose they are, and what was decided about them by whom."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('inbox', '0020_orders')]

    operations = [
        migrations.AddField(
            model_name='toolcall',
            name='agent',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.agent'),
        ),
        migrations.AddField(
            model_name='toolcall',
            name='team',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.team'),
        ),
        migrations.AddField(
            model_name='toolcall',
            name='decided_by',
            field=models.CharField(blank=True, default='', max_length=64),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='toolcall',
            name='verdict',
            field=models.CharField(blank=True, choices=[('approved', 'Approved'), ('edited', 'Edited'), ('denied', 'Denied'), ('answered', 'Answered'), ('cancelled', 'Cancelled'), ('expired', 'Expired')], default='', max_length=10),
            preserve_default=False,
        ),
    ]
