"""Add the time at which an interrupt came back with a backup."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', '0118_people_behind_drafts'),
    ]

    operations = [
        migrations.AddField(
            model_name='interrupt',
            name='restored_at',
            field=models.DateTimeField(help_text='when it came back with a backup, until somebody has checked what happened since', null=True),
        ),
    ]
