"""Add the people behind the requester of a run, and those who have the tokens of a key."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', '0116_undecidable_announcements'),
    ]

    operations = [
        migrations.AddField(
            model_name='apikey',
            name='former_made_by_user',
            field=models.ForeignKey(db_index=False, help_text='the person who received the former token', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='apikey',
            name='token_people',
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list, help_text='sorted ids of those who received the token, or owned the key since'),
        ),
        migrations.AddField(
            model_name='apikey',
            name='former_people',
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list, help_text='the same of the former token'),
        ),
        migrations.AddField(
            model_name='run',
            name='requester_people',
            field=models.TextField(help_text='JSON: ids of the people behind the requester when it asked; copied like it', null=True),
        ),
    ]
