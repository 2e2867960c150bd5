"""What lists are narrowed by, beside the requests themselves, and views that are kept."""

import django.db.models.deletion
import uuid6
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('inbox', '0003_team_work')]

    operations = [
        migrations.AddField(
            model_name='interrupt',
            name='agent',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.agent'),
        ),
        migrations.AddField(
            model_name='interrupt',
            name='decided_by',
            field=models.ForeignKey(db_index=False, help_text='whose answer closed it; means nothing while it is open', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='interrupt',
            name='search_text',
            field=models.TextField(default='', help_text='what a search looks through, casefolded'),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='interrupt',
            name='shape',
            field=models.CharField(blank=True, help_text='that of requests like this one', max_length=64),
        ),
        migrations.AddField(
            model_name='interrupt',
            name='tool',
            field=models.CharField(blank=True, help_text="the name of the call's tool", max_length=200),
        ),
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=60)),
                ('query', models.TextField(help_text='as in an address; read anew, and never trusted')),
                ('created_at', models.DateTimeField()),
                ('team', models.ForeignKey(help_text='who else has it', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.team')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'name'), name='one_view_per_name')],
            },
        ),
    ]
