from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', '0026_calls_by_day'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('status', 'pending'), _negated=True), fields=['next_try_at'], name='deliveries_by_age'),
        ),
    ]
