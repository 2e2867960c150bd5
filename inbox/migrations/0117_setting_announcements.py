"""Add announcements of weaker settings of a team."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', '0115_keep_people_behind_requesters'),
    ]

    operations = [
        migrations.AddField(
            model_name='announcement',
            name='setting',
            field=models.TextField(blank=True, db_default='', default='', help_text='of the team, JSON: its `name`, the value `before`, the new `value`, `by` whom'),
        ),
        migrations.AddField(
            model_name='announcement',
            name='team',
            field=models.ForeignKey(db_index=False, help_text='whose setting it is about', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='inbox.team'),
        ),
        migrations.AlterField(
            model_name='announcement',
            name='kind',
            field=models.CharField(choices=[('opened', 'Opened'), ('reminded', 'Reminded'), ('escalated', 'Escalated'), ('expiring', 'Expiring'), ('decided', 'Decided'), ('assigned', 'Assigned'), ('mentioned', 'Mentioned'), ('overruled', 'Overruled'), ('overridden', 'Overridden'), ('undecidable', 'Undecidable'), ('policy_published', 'Policy published'), ('channel_disabled', 'Channel disabled'), ('setting_proposed', 'Setting proposed'), ('setting_weakened', 'Setting weakened'), ('agent_paused', 'Agent paused'), ('test', 'Test')], max_length=20),
        ),
    ]
