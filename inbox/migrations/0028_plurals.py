from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', '0027_delivery_log'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='auditentry',
            options={'verbose_name_plural': 'audit entries'},
        ),
        migrations.AlterModelOptions(
            name='delivery',
            options={'verbose_name_plural': 'deliveries'},
        ),
    ]
