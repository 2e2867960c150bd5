"""Distinguish tool calls that were sent back from denied ones."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', "0083_tool_presentations"),
    ]

    operations = [
        migrations.AlterField(
            model_name='toolcall',
            name='verdict',
            field=models.CharField(blank=True, choices=[('approved', 'Approved'), ('edited', 'Edited'), ('denied', 'Denied'), ('sent_back', 'Sent back'), ('answered', 'Answered'), ('cancelled', 'Cancelled'), ('expired', 'Expired')], max_length=10),
        ),
    ]
