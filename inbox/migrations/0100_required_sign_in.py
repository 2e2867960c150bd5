"""Let teams require a second factor or a provider of their members."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "0099_session_limits")]

    operations = [
        migrations.AddField(
            model_name="team",
            name="required_sign_in",
            field=models.CharField(
                choices=[
                    ("any", "Any"),
                    ("second_factor", "Second factor"),
                    ("provider", "Provider"),
                ],
                db_default="any",
                default="any",
                help_text="how members must have signed in to enter the team",
                max_length=13,
            ),
        ),
    ]
