"""Add the setting of teams that stores what agents raise."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', '0119_restored_interrupts'),
    ]

    operations = [
        migrations.AddField(
            model_name='team',
            name='stores_exceptions',
            field=models.BooleanField(db_default=False, default=False, help_text='what agents raise is stored with their runs, for those who may start runs'),
        ),
    ]
