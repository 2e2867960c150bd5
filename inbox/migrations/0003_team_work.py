"""What a team needs to share its work: claims, comments, grace before a resume, and retries."""

import django.db.models.deletion
import uuid6
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', '0002_append_only'),
    ]

    operations = [
        migrations.CreateModel(
            name='Claim',
            fields=[
                ('interrupt', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='claim', serialize=False, to='inbox.interrupt')),
                ('claimed_at', models.DateTimeField()),
                ('until', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Comment',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('text', models.CharField(max_length=4000)),
                ('created_at', models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name='decision',
            name='call_before',
            field=models.TextField(help_text="JSON text: the tool call's row before this answer changed it", null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='resume_at',
            field=models.DateTimeField(help_text='when the answers to this interrupted run are due to resume it', null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='retries',
            field=models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='retried_by', to='inbox.run'),
        ),
        migrations.AddField(
            model_name='team',
            name='grace_seconds',
            field=models.PositiveSmallIntegerField(default=0, help_text='how long a complete set of answers waits before it resumes its run'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('resume_at__isnull', False)), fields=['resume_at'], name='resumes_by_time'),
        ),
        migrations.AddConstraint(
            model_name='team',
            constraint=models.CheckConstraint(condition=models.Q(('grace_seconds__lte', 3600)), name='grace_of_an_hour'),
        ),
        migrations.AddField(
            model_name='claim',
            name='user',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='comment',
            name='interrupt',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='comments', to='inbox.interrupt'),
        ),
        migrations.AddField(
            model_name='comment',
            name='user',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='claim',
            index=models.Index(fields=['user', 'until'], name='claims_of_a_person'),
        ),
        migrations.AddConstraint(
            model_name='comment',
            constraint=models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='comment_says_something'),
        ),
    ]
