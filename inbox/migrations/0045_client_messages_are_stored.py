from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("inbox", "0044_fill_client_messages")]

    operations = [
        migrations.AlterField(
            model_name="thread",
            name="client_messages",
            field=models.TextField(
                db_default="{}",
                help_text="JSON text: the fingerprint of each message that a client sent, by its id",
            ),
        ),
    ]
