"""Every list of threads, runs and comments is the beginning of an index."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('inbox', '0013_fill_runs_of_teams')]

    operations = [
        migrations.AlterField(
            model_name='run',
            name='agent',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.agent'),
        ),
        migrations.AlterField(
            model_name='run',
            name='team',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.team'),
        ),
        migrations.AlterField(
            model_name='run',
            name='thread',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='inbox.thread'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['team', 'id'], name='runs_of_a_team'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['team', 'status', 'id'], name='runs_by_status'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['agent', 'id'], name='runs_of_agent'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['thread', 'id'], name='runs_of_thread'),
        ),
        migrations.AddIndex(
            model_name='thread',
            index=models.Index(fields=['team', 'id'], name='threads_by_time'),
        ),
        migrations.AddIndex(
            model_name='thread',
            index=models.Index(fields=['agent', 'id'], name='threads_of_agent'),
        ),
        migrations.AddIndex(
            model_name='comment',
            index=models.Index(fields=['interrupt', 'id'], name='comments_in_order'),
        ),
    ]
