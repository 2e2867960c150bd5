"""Call programs back through the delivery workers of webhooks."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', '0088_call_leases'),
    ]

    operations = [
        migrations.AddField(
            model_name='delivery',
            name='url',
            field=models.TextField(blank=True, db_default='', default='', help_text='encrypted: of a callback; blank for the URL of the endpoint'),
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='agent',
            field=models.OneToOneField(help_text='whose programs are called back; such an endpoint has no events of its own', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='callbacks', to='inbox.agent'),
        ),
    ]
