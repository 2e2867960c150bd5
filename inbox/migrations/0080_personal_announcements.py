
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', "0079_assignees_and_snoozes"),
    ]

    operations = [
        migrations.AddField(
            model_name='announcement',
            name='person',
            field=models.ForeignKey(db_index=False, help_text='whom it is for, of the kinds in `PERSONAL`', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='announcement',
            name='kind',
            field=models.CharField(choices=[('opened', 'Opened'), ('reminded', 'Reminded'), ('escalated', 'Escalated'), ('expiring', 'Expiring'), ('decided', 'Decided'), ('assigned', 'Assigned'), ('mentioned', 'Mentioned'), ('overruled', 'Overruled'), ('overridden', 'Overridden'), ('policy_published', 'Policy published'), ('channel_disabled', 'Channel disabled'), ('test', 'Test')], max_length=20),
        ),
        migrations.AlterField(
            model_name='notification',
            name='why',
            field=models.CharField(blank=True, choices=[('closed', 'Closed'), ('reopened', 'Reopened'), ('claimed', 'Claimed'), ('seen', 'Seen'), ('no_access', 'No access'), ('no_deputy', 'No deputy'), ('reassigned', 'Reassigned'), ('not_admin', 'Not admin'), ('unsubscribed', 'Unsubscribed'), ('removed', 'Removed'), ('gone', 'Gone'), ('no_address', 'No address'), ('refused', 'Refused'), ('disabled', 'Disabled'), ('broken', 'Broken')], max_length=20),
        ),
    ]
