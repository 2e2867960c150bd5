"""Add the people who could act as the author of a draft."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', '0117_setting_announcements'),
    ]

    operations = [
        migrations.AddField(
            model_name='policydraft',
            name='author_people',
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list, help_text='sorted ids of those who could act as the author: the people behind a key'),
        ),
    ]
