"""Add announcements of requests that nobody can approve."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', '0001_squashed_0113_directories'),
    ]

    operations = [
        migrations.AlterField(
            model_name='announcement',
            name='kind',
            field=models.CharField(choices=[('opened', 'Opened'), ('reminded', 'Reminded'), ('escalated', 'Escalated'), ('expiring', 'Expiring'), ('decided', 'Decided'), ('assigned', 'Assigned'), ('mentioned', 'Mentioned'), ('overruled', 'Overruled'), ('overridden', 'Overridden'), ('undecidable', 'Undecidable'), ('policy_published', 'Policy published'), ('channel_disabled', 'Channel disabled'), ('agent_paused', 'Agent paused'), ('test', 'Test')], max_length=20),
        ),
    ]
